// What the page around the pictures shows, for whoever saves one: the sentence, and by which network.
// Whoever shows a page says so: the page's bar, or an offline file.

let tell = () => [];

// Hands over what gives the lines that stand below a saved picture's title.
export function aboutFrom(lines) {
  tell = lines;
}

export const about = () => tell();
