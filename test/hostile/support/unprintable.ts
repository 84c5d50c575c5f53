// What a terminal acts on, or shows in another order: none of it may come from a module.

/** Control characters, separators of lines, marks of direction, what has no width or is empty. */
export const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]/;
