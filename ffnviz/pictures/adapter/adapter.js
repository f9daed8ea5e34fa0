// Hangs a picture or a part's sheet into Streamlit, which serves this file to either component at
// an address of its own: from the one script that the page named, else module by module.
//
// Nothing is awaited at the top level: WebKit hands out a module that still waits there,
// unfinished. Streamlit awaits the function instead, and cleans up itself after a call that was
// overtaken.

const one = globalThis.ffnvizPictures;
const loading = one ? import(one) : import("../ffnviz.picture/hang.js");
const isSheet = import.meta.url.includes("/ffnviz.sheet/");

// The page's style comes by a script of Streamlit's own, on a slow line after ours: until then
// nothing would stand in a sheet's place.
const { documentElement } = document;
const isStyled = () => getComputedStyle(documentElement).getPropertyValue("--card") !== "";
async function styled() {
  while (!isStyled()) await new Promise((again) => setTimeout(again, 20));
}
const ready = isSheet && styled();

export default async (given) => {
  const { picture, sheet } = await loading;
  await ready;
  return (isSheet ? sheet : picture)(given);
};
