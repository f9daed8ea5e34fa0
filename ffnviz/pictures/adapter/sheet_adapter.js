// Hangs a part's sheet into Streamlit: from the one script that the page named, else module by module.

const one = globalThis.ffnvizPictures;
const { sheet } = one ? await import(one) : await import("./hang_sheet.js");
export default sheet;
