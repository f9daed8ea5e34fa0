// The page's own font for a saved picture: text is then drawn in the font that it was measured in,
// on machines that do not have it too.

const embedded = new Map(); // data: URLs by address

async function dataUrl(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`a font could not be read (${answer.status})`);
  const blob = await answer.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

const unquoted = (name) => name.trim().replace(/^["']|["']$/g, "");

// The rules of a family in the page's style sheets; of sheets of other hosts nothing can be read.
function* facesOf(family) {
  for (const sheet of document.styleSheets) {
    /** @type {Iterable<CSSRule>} */
    let rules = [];
    try { rules = sheet.cssRules; } catch { continue; }
    for (const rule of rules) {
      if (rule instanceof CSSFontFaceRule && unquoted(rule.style.getPropertyValue("font-family")) === family) {
        yield { rule, base: sheet.href ?? document.baseURI };
      }
    }
  }
}

// A style sheet with the fonts of a list such as '"Source Sans", sans-serif'. A font of the system
// needs none.
export async function fontRules(list, italic) {
  const family = unquoted(list.split(",")[0]);
  const made = [...facesOf(family)].map(async ({ rule: { style }, base }) => {
    const of = (name) => style.getPropertyValue(name);
    if (of("font-style") === "italic" && !italic) return "";
    const address = /url\("?([^")]+)"?\)/.exec(of("src"))?.[1];
    if (!address) return "";
    const whole = new URL(address, base).href;
    if (!embedded.has(whole)) embedded.set(whole, dataUrl(whole).catch(() => null));
    const url = await embedded.get(whole);
    return url && `@font-face{font-family:"${family}";font-weight:${of("font-weight")};font-style:${of("font-style")};src:url("${url}") format("woff2")}`;
  });
  return (await Promise.all(made)).filter(Boolean).join("");
}
