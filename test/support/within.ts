// Waits that end: whoever waits says what for, and a test that waits in vain says it too.

/** What the promise comes to. After so many seconds it throws instead, with what was waited for. */
export async function within<T>(
  seconds: number,
  what: string | (() => string),
  awaited: Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const text = typeof what === 'string' ? what : what();
      reject(new Error(`waited ${seconds} s in vain for ${text}`));
    }, seconds * 1000);
  });
  try {
    return await Promise.race([awaited, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
