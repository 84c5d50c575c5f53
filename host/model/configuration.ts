// Configuration: the values that the handlers of a module read. Handlers are given the values that are in use when they read them;
// a handler that is run again gets those of its first run, because its calls are recorded.

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

  /** Returns the text with `***` in the place of each secret. */
  withoutSecrets(text: string): string {
    let shown = text;
    for (const secret of this.texts?.secrets ?? []) shown = shown.replaceAll(secret, '***');
    return shown;
  }
}
