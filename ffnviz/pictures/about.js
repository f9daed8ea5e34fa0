// What the page around the pictures shows, for whoever saves one: the sentence, and by which network.
// Only whoever hangs the pictures into a page knows it.

let tell = () => [];

// Hands over what gives the lines that stand below a saved picture's title.
export function aboutFrom(lines) {
  tell = lines;
}

export const about = () => tell();
