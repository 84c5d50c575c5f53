// svc token: prints an access token for services of this machine that accept development tokens, made without an identity provider.
import { readFile } from 'node:fs/promises';
import { developmentKeyFile } from '@svc/kit/development-key-file';
import { GRANT, SUBJECT } from '@svc/tokens/caller-grammar';
import { command, EXIT_CODE } from '../command.ts';
import { readDuration } from '../time-word.ts';
import { UsageError } from '../usage-error.ts';

const LIFETIME_MAX = '720h';
const CLAIMS_BYTES_MAX = 8 * 1024;

export const token = command(
  {
    name: 'token',
    summary: 'print an access token for services of this machine',
    about: `Prints an access token for a service that runs here with --development-tokens: who the caller
is, and what it may do. No identity provider is asked, and no other service takes the token.`,
    words: [],
    options: {
      subject: { type: 'string', value: 'SUBJECT', help: 'who calls', default: 'developer' },
      role: {
        type: 'string',
        multiple: true,
        value: 'ROLE',
        help: 'a role of the caller; may be repeated',
      },
      scope: {
        type: 'string',
        multiple: true,
        value: 'SCOPE',
        help: 'a scope of the token; may be repeated',
      },
      claims: {
        type: 'string',
        value: 'FILE',
        help: 'JSON file with an object of further claims, such as\n{"name": "Ada", "tenant": "acme"}; --role and --scope\nreplace those of the file',
        completes: { kind: 'file', ending: '.json' },
      },
      'valid-for': {
        type: 'string',
        value: 'TIME',
        help: `how long the token is good: 45s, 15m, 8h, up to ${LIFETIME_MAX}`,
        default: '8h',
      },
    },
    notes: `The key of these tokens is made at the first use: ~/.svc/development-tokens.json. Delete the file,
and services that start from then on take its tokens no more.`,
    examples: [
      'svc token --subject user-1 --role librarian',
      'curl -H "Authorization: Bearer $(svc token --role admin)" http://127.0.0.1:9000/books',
    ],
  },
  async (_words, { subject, role: roles, scope: scopes, claims, 'valid-for': validFor }) => {
    const lifetimeMs = readDuration('token', '--valid-for', validFor);
    if (lifetimeMs < 1_000 || lifetimeMs > readDuration('token', '--valid-for', LIFETIME_MAX))
      throw new UsageError(
        `token takes --valid-for from 1s to ${LIFETIME_MAX}, and found '${validFor}'.`,
      );
    if (!SUBJECT.test(subject))
      throw new UsageError(
        'token takes a --subject of 1 to 255 characters, without control characters.',
      );
    for (const grant of [...roles, ...scopes])
      if (!GRANT.test(grant))
        throw new UsageError(
          `token takes roles and scopes of visible ASCII characters, without quotation mark and backslash, and found '${grant}'.`,
        );
    const more = claims === undefined ? {} : await readClaims(claims);
    const { developmentToken } = await import('@svc/tokens/development-tokens');
    const caller = { subject, roles, scopes, claims: more, lifetimeMs };
    process.stdout.write(`${await developmentToken(developmentKeyFile(), caller, Date.now())}\n`);
    return EXIT_CODE.ok;
  },
);

async function readClaims(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`token cannot read the claims in '${file}': ${error.code}.`);
  });
  const wanted = `token takes a file with a JSON object of at most ${CLAIMS_BYTES_MAX} bytes as --claims, and found another content in '${file}'.`;
  if (text.length > CLAIMS_BYTES_MAX) throw new UsageError(wanted);
  let claims: unknown;
  try {
    // A copy is made where the token is signed, which fails for thousands of lists in each other.
    claims = structuredClone(JSON.parse(text));
  } catch {
    throw new UsageError(wanted);
  }
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw new UsageError(wanted);
  return claims as Readonly<Record<string, unknown>>;
}
