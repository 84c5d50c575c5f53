// The names of fields as CGI, WSGI, PHP and some servers see them: every character but letters and digits becomes the same
// one, so that `X_Svc_Caller` and `X.Svc.Caller` are the same variable as `X-Svc-Caller`.

const CASE_BIT = 0x20;

/** Returns a name, which is in lower case, with a hyphen for each character that is no letter and no digit. */
export function foldedName(lowerName: string): string {
  return lowerName.replaceAll(/[^a-z0-9]/g, '-');
}

/** Returns whether the name is folded into `lowerName`, which begins with a letter. */
export function foldsInto(name: string, lowerName: string): boolean {
  if (name.length !== lowerName.length) return false;
  if ((name.charCodeAt(0) | CASE_BIT) !== lowerName.charCodeAt(0)) return false;
  return foldedName(name.toLowerCase()) === lowerName;
}
