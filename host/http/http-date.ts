// The header Date of answers. Its text changes once a second; a timer, and not each answer, looks at the clock.

const MS_PER_SECOND = 1_000;

let text: string | undefined;

function forget(): void {
  text = undefined;
}

/** Returns the present time in the form of HTTP. */
export function httpDate(): string {
  if (text === undefined) {
    const now = new Date();
    text = now.toUTCString();
    setTimeout(forget, MS_PER_SECOND - now.getMilliseconds()).unref();
  }
  return text;
}
