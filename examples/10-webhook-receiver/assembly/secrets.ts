// The secrets of the subscription. They are compiled into the module, so anybody who can read the module can sign: keep your own
// file out of version control. During a rotation it has two, the new one first.
export const SECRETS: string[] = ["a-secret-that-everybody-knows"];
