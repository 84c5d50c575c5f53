// ProcessAddress is the form of the address of a process: one of this machine, because what goes to a process is not encrypted.

const FORM = /^(?:127\.0\.0\.1|localhost|\[::1\]):([1-9]\d{0,4})$/;

/** The form in words, for messages. */
export const PROCESS_ADDRESS_WORDS = 'an address of this machine, as 127.0.0.1:9010';

export function isProcessAddress(text: string): boolean {
  return Number(FORM.exec(text)?.[1]) <= 65_535;
}
