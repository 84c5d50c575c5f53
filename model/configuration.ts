// Configuration: the values that the handlers of a module read. Handlers are given the values that are in use when they read them;
// a handler that is run again gets those of its first run, because its calls are recorded.

/** Stands for a secret. */
const HIDDEN = '***';
/** Ends a text that was too long: a line of the log, or a message of a failure. */
const ELLIPSIS = '…';
/** Minimum length of the beginning of a secret that is replaced. A shorter one would occur in other words. */
const BEGINNING_MIN = 4;

export interface ConfigurationTexts {
  /** The values, as the module decodes them. */
  readonly json: string;
  /** Texts that nothing may print, longest first. */
  readonly secrets: readonly string[];
}

/** The values in use. Their owner replaces them while handlers run. */
export class CurrentConfiguration {
  /** Undefined if the module has no configuration. */
  texts: ConfigurationTexts | undefined;

  constructor(texts?: ConfigurationTexts) {
    this.texts = texts;
  }

  /** Returns the text with `***` in the place of each secret, also of one whose end was cut off. */
  withoutSecrets(text: string): string {
    let shown = text;
    for (const secret of this.texts?.secrets ?? [])
      shown = withoutBeginnings(shown.replaceAll(secret, HIDDEN), secret);
    return shown;
  }
}

/** Replaces the beginnings of a secret at which a text was cut, each of them before an ellipsis. */
function withoutBeginnings(text: string, secret: string): string {
  if (!text.includes(ELLIPSIS)) return text;
  const parts = text.split(ELLIPSIS);
  const last = parts.pop()!;
  return [...parts.map((part) => withoutEnd(part, secret)), last].join(ELLIPSIS);
}

function withoutEnd(text: string, secret: string): string {
  const head = secret.slice(0, BEGINNING_MIN);
  // A cut within a character leaves a replacement character.
  const end = text.endsWith('\ufffd') ? text.length - 1 : text.length;
  let at = text.indexOf(head, Math.max(0, end - secret.length));
  while (at >= 0 && !secret.startsWith(text.slice(at, end))) at = text.indexOf(head, at + 1);
  return at < 0 ? text : text.slice(0, at) + HIDDEN;
}
