// Hangs a picture into Streamlit: from the one script that the page named, else module by module.
//
// Nothing is awaited at the top level: WebKit hands out a module that still waits there, unfinished.
// Streamlit awaits the function instead, and cleans up itself after a call that was overtaken.

const one = globalThis.ffnvizPictures;
const loading = one ? import(one) : import("./hang_picture.js");
export default async (given) => (await loading).picture(given);
