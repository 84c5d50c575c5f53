// URLs of databases: what they mean, everything that can be wrong with one, and that no message shows a secret.
import { mkdirSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readDatabaseUrl } from '../../../../host/storage/postgres/database-source.ts';
import { parseDatabaseUrl } from '../../../../host/storage/postgres/database-url.ts';
import { SvcError } from '../../../../kit/svc-error.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const WHERE = 'the file /run/url';

/** Returns the failure of a URL; undefined: it is accepted. */
function failureOf(text: string): unknown {
  try {
    parseDatabaseUrl(text, WHERE);
    return undefined;
  } catch (error) {
    return error;
  }
}

const tlsOf = (hosts: string) => parseDatabaseUrl(`postgresql://u@${hosts}/x`, WHERE).tls;

/** Writes a file with a URL. */
function inFile(content: string | Uint8Array) {
  const path = join(temporaryFolder(), 'url');
  writeFileSync(path, content, { mode: 0o600 });
  return { kind: 'file', path } as const;
}

describe('a URL that is accepted', () => {
  test.each([
    ['postgresql://u:p@db.example.com/shop', 'postgresql://db.example.com:5432/shop'],
    ['postgres://u:p@DB.example.com:6432/shop', 'postgresql://db.example.com:6432/shop'],
    ['postgresql://u@127.0.0.1/shop', 'postgresql://127.0.0.1:5432/shop'],
    ['postgresql://u:p@[::1]/shop', 'postgresql://[::1]:5432/shop'],
    ['postgresql://u:p@[2001:db8::1]:5433/shop', 'postgresql://[2001:db8::1]:5433/shop'],
    ['postgresql://u:p@a:1,b,[::1]:65535/x', 'postgresql://a:1,b:5432,[::1]:65535/x'],
    ['postgresql://u@%2Frun%2Fpostgresql/x', 'postgresql://%2Frun%2Fpostgresql:5432/x'],
    ['postgresql://u@h/a%20b%2Fc', 'postgresql://h:5432/a%20b%2Fc'],
    ['postgresql://u:p@db_1.example.com./x', 'postgresql://db_1.example.com.:5432/x'],
  ])('%s is shown as %s', (text, shown) => {
    expect(parseDatabaseUrl(text, WHERE).shown).toBe(shown);
  });

  test('user, password and database are what they were before they were encoded', () => {
    const part = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 12 })
      // oxlint-disable-next-line no-control-regex
      .filter((text) => text.isWellFormed() && !/[\u0000-\u001F\u007F]/.test(text))
      .filter((text) => Buffer.byteLength(text) <= 63);
    fc.assert(
      fc.property(part, part, part, (user, password, database) => {
        const [u, p, d] = [user, password, database].map(encodeURIComponent);
        const url = parseDatabaseUrl(`postgresql://${u}:${p}@h/${d}`, WHERE);
        expect([url.user, url.password(), url.database]).toEqual([user, password, database]);
      }),
    );
  });

  test('without parameters, hosts elsewhere are verified, and those of this machine are connected to without TLS', () => {
    expect(tlsOf('db.example.com')).toEqual({});
    expect(tlsOf('localhost,db.example.com')).toEqual({});
    expect(tlsOf('10.0.0.1')).toEqual({});
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', '%2Frun'])
      expect(tlsOf(host)).toBeUndefined();
  });

  test('that CloudNativePG writes names a server that is verified', () => {
    const text = 'postgresql://app:aB3xY9@cart-database-rw.svc-shop:5432/app';
    const url = parseDatabaseUrl(text, WHERE);
    expect(url).toMatchObject({
      hosts: [{ host: 'cart-database-rw.svc-shop', port: 5432 }],
      user: 'app',
      database: 'app',
      tls: {},
    });
    expect(url.password()).toBe('aB3xY9');
  });

  test('its parameters are used', () => {
    const url = parseDatabaseUrl(
      'postgresql://u@h/x?sslmode=verify-full&sslrootcert=/a%20b/ca.pem&sslcert=/c.pem&sslkey=/k.pem' +
        '&application_name=cart%201&connect_timeout=3',
      WHERE,
    );
    expect(url).toMatchObject({
      tls: {
        rootCertificate: '/a b/ca.pem',
        client: { certificate: '/c.pem', key: '/k.pem' },
      },
      applicationName: 'cart 1',
      connectTimeoutMs: 3_000,
    });
    expect(parseDatabaseUrl('postgresql://u@h/x', WHERE)).toMatchObject({
      applicationName: 'svc',
      connectTimeoutMs: 10_000,
    });
    expect(parseDatabaseUrl('postgresql://u@localhost/x?sslmode=verify-full', WHERE).tls).toEqual(
      {},
    );
  });
});

describe('a URL that is refused', () => {
  const long = 'x'.repeat(64);
  test.each([
    ['mysql://u:p@h/x', 'does not begin with postgresql://'],
    ['POSTGRESQL://u:p@h/x', 'does not begin with postgresql://'],
    ['postgresql:/u:p@h/x', 'does not begin with postgresql://'],
    ['postgresql:u:p@h/x', 'does not begin with postgresql://'],
    ['host=h user=u', 'holds a space'],
    ['h/x', 'does not begin with postgresql://'],
    ['postgresql://', 'names no user'],
    ['postgresql://h/x', 'names no user'],
    ['postgresql://u:p/x', 'names no user'],
    ['postgresql://@h/x', 'its user is empty'],
    ['postgresql://:p@h/x', 'its user is empty'],
    ['postgresql://u:@h/x', 'its password is empty'],
    ['postgresql://u:a:b@h/x', 'its password holds a colon'],
    ['postgresql://u:a@b@h/x', 'more than one @'],
    ['postgresql://u:a/b@h/x', 'its user or password holds a / or ?'],
    ['postgresql://u:a?b@h/x', 'its user or password holds a / or ?'],
    ['postgresql://u:a#b@h/x', 'holds a #'],
    ['postgresql://u:p@h/x#y', 'holds a #'],
    ['postgresql://u:a%b@h/x', 'its password holds a %'],
    ['postgresql://u:a%zz@h/x', 'its password holds a %'],
    ['postgresql://u:%ff@h/x', 'its password holds a %'],
    ['postgresql://u%:p@h/x', 'its user holds a %'],
    ['postgresql://u:p%00@h/x', 'its password holds a control character'],
    ['postgresql://u%0a:p@h/x', 'its user holds a control character'],
    ['postgresql://u:p@h/x%1b', 'its database holds a control character'],
    ['postgresql://u:a b@h/x', 'holds a space'],
    ['postgresql://u:a\tb@h/x', 'holds a space or a control character'],
    ['postgresql://u:a\u0000b@h/x', 'holds a space or a control character'],
    [`postgresql://${long}:p@h/x`, 'its user has more than 63 bytes'],
    [`postgresql://u:p@h/${long}`, 'its database has more than 63 bytes'],
    ['postgresql://u:p@/x', 'names no host'],
    ['postgresql://u:p@', 'names no host'],
    ['postgresql://u:p@:5432/x', 'its host is empty'],
    ['postgresql://u:p@a,,b/x', 'host 2 of 3 is empty'],
    ['postgresql://u:p@a,/x', 'host 2 of 2 is empty'],
    ['postgresql://u:p@h:/x', 'the port of its host is not a number from 1 to 65535'],
    ['postgresql://u:p@h:0/x', 'the port of its host'],
    ['postgresql://u:p@h:65536/x', 'the port of its host'],
    ['postgresql://u:p@h:+1/x', 'the port of its host'],
    ['postgresql://u:p@h:5432x/x', 'the port of its host'],
    ['postgresql://u:p@h:99999999999/x', 'the port of its host'],
    ['postgresql://u:p@a,b:x/x', 'the port of host 2 of 2'],
    ['postgresql://u:p@a:1:2/x', 'the port of its host'],
    ['postgresql://u:p@::1/x', 'the port of its host'],
    ['postgresql://u:p@2001:db8::1/x', 'the port of its host'],
    ['postgresql://u:p@[::1/x', 'its host is neither HOST, HOST:PORT nor [IPv6]:PORT'],
    ['postgresql://u:p@[::1]5432/x', 'its host is neither HOST, HOST:PORT nor [IPv6]:PORT'],
    ['postgresql://u:p@[]/x', 'brackets without an IPv6 address'],
    ['postgresql://u:p@[1.2.3.4]/x', 'brackets without an IPv6 address'],
    ['postgresql://u:p@[fe80::1%25eth0]/x', 'brackets without an IPv6 address'],
    ['postgresql://u:p@1.2.3/x', 'its host is neither a name, an address'],
    ['postgresql://u:p@1.2.3.256/x', 'its host is neither a name, an address'],
    ['postgresql://u:p@-h/x', 'its host is neither a name, an address'],
    ['postgresql://u:p@h..h/x', 'its host is neither a name, an address'],
    ['postgresql://u:p@h%20h/x', 'its host is neither a name, an address'],
    ['postgresql://u:p@h%/x', 'its host holds a %'],
    ['postgresql://u:p@hö/x', 'its host is neither a name, an address'],
    [`postgresql://u:p@${'h.'.repeat(200)}h/x`, 'its host is neither a name, an address'],
    [`postgresql://u:p@%2F${'x'.repeat(80)}/x`, 'its host, the folder of a socket, has more than'],
    ['postgresql://u:p@h:1,H:1/x', 'names a host twice'],
    [
      `postgresql://u:p@${Array.from({ length: 17 }, (_, i) => `h${i}`).join(',')}/x`,
      'more than 16 hosts',
    ],
    ['postgresql://u:p@h', 'names no database'],
    ['postgresql://u:p@h/', 'names no database'],
    ['postgresql://u:p@h?sslmode=verify-full', 'names no database'],
    ['postgresql://u:p@h/x/y', 'its path has more parts'],
    ['postgresql://u:p@h/x?', 'a parameter whose name is no name'],
    ['postgresql://u:p@h/x?host=other', 'its parameter host is unknown'],
    ['postgresql://u:p@h/x?options=-c%20fsync%3Doff', 'its parameter options is unknown'],
    ['postgresql://u:p@h/x?password=q', 'its parameter password is unknown'],
    [
      'postgresql://u:p@h/x?target_session_attrs=any',
      'its parameter target_session_attrs is unknown',
    ],
    ['postgresql://u:p@h/x?SSLMODE=disable', 'its parameter SSLMODE is unknown'],
    ['postgresql://u:p@h/x?__proto__=1', 'its parameter __proto__ is unknown'],
    ['postgresql://u:p@h/x?constructor=1', 'its parameter constructor is unknown'],
    ['postgresql://u:p@h/x?a%20b=1', 'a parameter whose name is no name'],
    ['postgresql://u:p@h/x?sslmode', 'its parameter sslmode is not written as sslmode=VALUE'],
    ['postgresql://u:p@h/x?sslmode=a=b', 'its parameter sslmode is not written as sslmode=VALUE'],
    ['postgresql://u:p@h/x?sslmode=', 'its parameter sslmode is empty'],
    [
      'postgresql://u:p@h/x?connect_timeout=1&connect_timeout=2',
      'the parameter connect_timeout twice',
    ],
    ['postgresql://u:p@h/x?connect_timeout=1&&', 'a parameter whose name is no name'],
    ['postgresql://u:p@h/x?sslmode=disable', 'sslmode=disable is for hosts on this machine alone'],
    [
      'postgresql://u:p@localhost,h/x?sslmode=disable',
      'sslmode=disable is for hosts on this machine',
    ],
    ['postgresql://u:p@h/x?sslmode=allow', 'sslmode=allow does not check whether the server'],
    ['postgresql://u:p@h/x?sslmode=prefer', 'sslmode=prefer does not check whether the server'],
    ['postgresql://u:p@h/x?sslmode=require', 'sslmode=require does not check whether the server'],
    [
      'postgresql://u:p@h/x?sslmode=verify-ca',
      'sslmode=verify-ca does not check whether the server',
    ],
    ['postgresql://u:p@h/x?sslmode=VERIFY-FULL', 'its sslmode is neither verify-full nor disable'],
    [
      'postgresql://u:p@localhost/x?sslrootcert=/ca.pem',
      'names files for TLS, and TLS is not used',
    ],
    ['postgresql://u:p@h/x?sslrootcert=ca.pem', 'sslrootcert is not the absolute path'],
    ['postgresql://u:p@h/x?sslrootcert=system', 'sslrootcert is not the absolute path'],
    ['postgresql://u:p@h/x?sslcert=/c.pem', 'has one of sslcert and sslkey'],
    ['postgresql://u:p@h/x?sslkey=/k.pem', 'has one of sslcert and sslkey'],
    ['postgresql://u:p@h/x?connect_timeout=0', 'its connect_timeout is not a number of seconds'],
    ['postgresql://u:p@h/x?connect_timeout=601', 'its connect_timeout is not a number of seconds'],
    ['postgresql://u:p@h/x?connect_timeout=1.5', 'its connect_timeout is not a number of seconds'],
    ['postgresql://u:p@h/x?connect_timeout=1e1', 'its connect_timeout is not a number of seconds'],
    ['postgresql://u:p@h/x?application_name=%C3%A9', 'its application_name is not 1 to 63'],
    [`postgresql://u:p@h/x?application_name=${long}`, 'its application_name is not 1 to 63'],
    ['postgresql://u:p@h/x?sslmode=%', 'its parameter sslmode holds a %'],
  ])('%j: %s', (text, problem) => {
    const failure = failureOf(text);
    expect(failure).toBeInstanceOf(SvcError);
    expect(failure).toMatchObject({
      code: 'SVC_DATABASE_URL_INVALID',
      message: expect.stringMatching(
        /^The URL of the database in the file \/run\/url cannot be used: /,
      ),
    });
    expect((failure as Error).message).toContain(problem);
  });

  test('never shows a part of user or password, wherever a character ends them early', () => {
    // Each piece of the secrets has a mark. Between the pieces is everything that means something in a URL.
    const mark = 'Zq9';
    const secret = fc
      .array(
        fc.oneof(
          fc.constantFrom(...Array.from('@/?#:%&=,[] \n'), '%00', '%2F'),
          fc.string({ maxLength: 3 }),
        ),
        {
          minLength: 1,
          maxLength: 5,
        },
      )
      .map((pieces) => `${mark}${pieces.join(mark)}${mark}`);
    const tail = fc.constantFrom('@h/x', '@h/', '@h:0/x', '@h/x?a=1', '@h,h/x', '', '/x', '@');
    fc.assert(
      fc.property(secret, secret, tail, (user, password, end) => {
        const failure = failureOf(`postgresql://${user}:${password}${end}`);
        const message = failure instanceof Error ? failure.message : '';
        expect(message).not.toContain(mark);
      }),
      { numRuns: 2_000 },
    );
  });

  test('has an end, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        for (const url of [text, `postgresql://${text}`, `postgresql://u@h/x?${text}`]) {
          const failure = failureOf(url);
          expect(failure === undefined || failure instanceof SvcError).toBe(true);
        }
      }),
    );
  });
});

describe('the source of a URL', () => {
  const URL_TEXT = 'postgresql://u:secret-1@h/x';
  test('is a file with the URL, with or without white space around it', async () => {
    for (const content of [URL_TEXT, `${URL_TEXT}\n`, `\n  ${URL_TEXT} \r\n\n`])
      expect((await readDatabaseUrl(inFile(content))).password()).toBe('secret-1');
  });

  test('is an environment variable', async () => {
    vi.stubEnv('SVC_TEST_URL', URL_TEXT);
    const url = await readDatabaseUrl({ kind: 'environment', variable: 'SVC_TEST_URL' });
    expect(url.shown).toBe('postgresql://h:5432/x');
    vi.unstubAllEnvs();
  });

  test.each([
    ['is empty', '', 'it is empty'],
    ['has white space alone', ' \n\t', 'it is empty'],
    ['has two lines', `${URL_TEXT}\n${URL_TEXT}\n`, 'there is more than one line'],
    ['is too large', `${URL_TEXT}${' '.repeat(20_000)}`, 'the file has more than 16384 bytes'],
    ['is no UTF-8', new Uint8Array([0x70, 0xff]), 'the file is no text in UTF-8'],
  ])('that %s is refused', async (_, content, problem) => {
    const source = inFile(content);
    await expect(readDatabaseUrl(source)).rejects.toMatchObject({
      code: 'SVC_DATABASE_URL_INVALID',
      message: expect.stringContaining(`the file ${source.path} cannot be used: ${problem}`),
    });
  });

  test('that is no file is refused, and a pipe to which nobody writes does not hold it up', async () => {
    const folder = temporaryFolder();
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), '');
    for (const [path, problem] of [
      [pipe, 'this is not a file'],
      [join(folder, 'folder'), 'this is not a file'],
      [join(folder, 'file', 'below'), 'this is not a file'],
      [join(folder, 'missing'), 'there is no such file'],
    ] as const)
      await expect(readDatabaseUrl({ kind: 'file', path })).rejects.toMatchObject({
        code: 'SVC_DATABASE_URL_INVALID',
        message: expect.stringContaining(problem),
      });
  });

  test('that is a variable which is not set, or too long, is refused', async () => {
    const source = { kind: 'environment', variable: 'SVC_TEST_URL' } as const;
    await expect(readDatabaseUrl(source)).rejects.toThrow('the variable is not set');
    vi.stubEnv('SVC_TEST_URL', 'x'.repeat(20_000));
    await expect(readDatabaseUrl(source)).rejects.toThrow('it has more than 16384 bytes');
    vi.unstubAllEnvs();
  });
});
