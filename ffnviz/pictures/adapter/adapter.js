// Hangs a picture into Streamlit: from the one script that the page named, else module by module.

const one = globalThis.ffnvizPictures;
const { picture } = one ? await import(one) : await import("./hang_picture.js");
export default picture;
