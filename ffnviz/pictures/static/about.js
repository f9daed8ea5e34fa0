// The sentence and the network that the page shows, to be written below a saved picture's title.
// They are set by the page's bar, or by an offline file.

let tell = () => [];

// Sets the function that returns these lines.
export function aboutFrom(lines) {
  tell = lines;
}

export const about = () => tell();
