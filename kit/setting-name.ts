// Names of settings: each setting has one dotted name, and one environment variable derived from it.

/** Returns the dotted name: `http`, `answerTimeoutMs` → `svc.http.answer-timeout-ms`. */
export function dottedName(section: string, key: string): string {
  return `svc.${section}.${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Returns the environment variable: `svc.http.answer-timeout-ms` → `SVC_HTTP_ANSWER_TIMEOUT_MS`. */
export function variableName(dotted: string): string {
  return dotted.toUpperCase().replaceAll(/[.-]/g, '_');
}
