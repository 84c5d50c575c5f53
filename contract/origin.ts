// Origins as CORS compares them: the form that a browser sends in the header `Origin`, and one wildcard form.

/** A scheme, a host that may begin with `*.`, and perhaps a port. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\*\.)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?$/;
const ORIGIN_LENGTH_MAX = 300;
const EXAMPLES = 'https://shop.example.com, http://localhost:5173 or https://*.example.com';

/**
 * Returns why the text is neither an origin (`https://shop.example.com`) nor one whose first label is a wildcard
 * (`https://*.example.com`), with what to write instead. Returns undefined for a valid text.
 */
export function originProblem(text: string): string | undefined {
  const found = text.length > ORIGIN_LENGTH_MAX ? null : ORIGIN.exec(text);
  if (found === null) {
    const corrected = canonicalOrigin(text);
    return corrected === undefined || corrected === text
      ? `is not an origin: write it as ${EXAMPLES}`
      : `is not an origin as browsers send it: write ${corrected}`;
  }
  const [, scheme = '', wildcard = '', host = '', port = ''] = found;
  if (wildcard !== '' && host !== 'localhost' && !/^[^.]+\.[^.]/.test(host))
    return 'has a wildcard over a whole top-level domain: name the domain, as in https://*.example.com';
  const plain = `${scheme}://${host}${port}`;
  const canonical = canonicalOrigin(plain);
  if (canonical === plain || (scheme !== 'http' && scheme !== 'https')) return undefined;
  return canonical === undefined
    ? `is not an origin: write it as ${EXAMPLES}`
    : `is not an origin as browsers send it: write ${canonical.replace('://', `://${wildcard}`)}`;
}

/** Returns the origin of an HTTP address as browsers write it; undefined for any other text. */
function canonicalOrigin(text: string): string | undefined {
  if (text.length > ORIGIN_LENGTH_MAX || !URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return isWeb && ORIGIN.test(origin) ? origin : undefined;
}
