// The lecturer's window for sentences: this page reads them, as only it has the secret, and the window shows them.

import { classroom, complain, onClass, read, send } from "./classroom_connection.js";

const channelName = `ffnviz-review-${Math.random().toString(36).slice(2)}`;

/** @param changed called when what is on the wall is another */
export function makeReview(changed) {
  let channel = null, seen = ""; // what the window was told last, by the class's numbers

  async function post() {
    seen = now();
    await read("sentences").then((sentences) => channel?.postMessage({ sentences }), () => {}); // the line says what is wrong
  }
  const now = () => `${classroom.code} ${classroom.now?.revision}`;
  const stop = onClass(() => { if (channel && classroom.role === "lecturer" && seen !== now()) post(); });

  function listen() {
    if (channel) return;
    channel = new BroadcastChannel(channelName);
    channel.onmessage = async ({ data }) => {
      if (data.ready) return post();
      if (!data.wall) return;
      await send("wall", data.wall).then(changed, ({ message }) => complain(message));
      post();
    };
  }

  return {
    open() {
      listen();
      const address = new URL("./review.html", import.meta.url);
      address.hash = channelName;
      open(address, channelName, "popup,width=900,height=700");
    },
    stop() {
      stop();
      channel?.close();
      channel = null;
    },
  };
}
