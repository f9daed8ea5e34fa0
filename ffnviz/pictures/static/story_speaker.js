// The speaker's second window: notes, the next scene and a clock. The two windows of one browser
// talk to each other, and no server hears of it.

const channelName = `ffnviz-lecture-${Math.random().toString(36).slice(2)}`;

/** @param act called with what the second window's keys ask for */
export function makeSpeaker(act) {
  let channel = null, last = null;

  const post = () => { if (channel && last) channel.postMessage(last); };
  function listen() {
    if (channel) return;
    channel = new BroadcastChannel(channelName);
    channel.onmessage = ({ data }) => {
      if (data.ready) post();
      else if (typeof data.act === "string") act(data.act);
    };
  }

  return {
    open() {
      listen();
      const address = new URL("./speaker.html", import.meta.url);
      address.hash = channelName;
      open(address, channelName, "popup,width=900,height=700");
    },
    tell(scene) {
      listen(); // the window may be open since before the page was drawn anew
      last = { scene };
      post();
    },
    close() {
      channel?.close();
      channel = null;
    },
  };
}
