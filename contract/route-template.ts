// RouteTemplate: the path of a route as its segments: `/carts/{id}`. It comes from a module: it is compared
// and split as a string and never reaches a code generator or a regular expression engine.

/** Maximum number of segments of a template. */
export const SEGMENTS_MAX = 64;

export type TemplateSegment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'parameter'; readonly name: string };

export type TemplateResult =
  | { readonly ok: true; readonly segments: readonly TemplateSegment[] }
  /** `problem`: what is wrong with the template, `remedy`: what to do. */
  | { readonly ok: false; readonly problem: string; readonly remedy: string };

/** Returns the template of a route: the endpoint's prefix and the route's path, or `/` if both are empty. */
export function routeTemplate(prefix: string, path: string): string {
  return prefix + path || '/';
}

/** Splits a template that begins with a slash, and decodes its literal segments. */
export function parseRouteTemplate(template: string): TemplateResult {
  const raw = template.slice(1).split('/');
  if (raw.length > SEGMENTS_MAX)
    return refused(`more than ${SEGMENTS_MAX} segments`, 'Shorten it.');
  const segments: TemplateSegment[] = [];
  const names = new Set<string>();
  for (const [position, text] of raw.entries()) {
    const name = text.slice(1, -1);
    if (text === `{${name}}` && !hasBrace(name)) {
      if (names.has(name))
        return refused(`the parameter '${name}' twice`, 'Give each parameter its own name.');
      names.add(name);
      segments.push({ kind: 'parameter', name });
      continue;
    }
    if (hasBrace(text))
      return refused(
        'a brace in the middle of a segment',
        'A parameter is a whole segment: {name}.',
      );
    if (text === '' && position < raw.length - 1)
      return refused(
        'an empty segment',
        "A prefix ends without a slash, and each part begins with one: '/carts' and '/{id}'.",
      );
    const literal = decoded(text);
    if (literal === undefined || literal === '.' || literal === '..')
      return refused(
        'a segment that no request can name',
        "Percent-encode UTF-8, and leave out '.' and '..'.",
      );
    segments.push({ kind: 'literal', text: literal });
  }
  return { ok: true, segments };
}

/** Returns the same text for two templates that match the same requests. */
export function templateShape(segments: readonly TemplateSegment[]): string {
  return segments
    .map((segment) => (segment.kind === 'parameter' ? '{}' : encodeURIComponent(segment.text)))
    .join('/');
}

function hasBrace(text: string): boolean {
  return text.includes('{') || text.includes('}');
}

/** Returns undefined when the percent-encoding is malformed or not UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function refused(problem: string, remedy: string): TemplateResult {
  return { ok: false, problem: `has ${problem}`, remedy };
}
