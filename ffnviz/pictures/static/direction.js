// Which way a sentence runs: as its first letter does that is not a mask's.

const MASK = /\[mask\]/gi, LETTER = /\p{L}/u;
const FROM_THE_RIGHT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}]/u;

/** @param {string} sentence */
export function directionOf(sentence) {
  const letter = LETTER.exec(sentence.replace(MASK, ""));
  return letter && FROM_THE_RIGHT.test(letter[0]) ? "rtl" : "ltr";
}
