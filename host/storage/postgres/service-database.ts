// ServiceDatabase makes the database of one service on a server: a role and a database of the same name. Only that role,
// the role that made them, and superusers may connect to the database. The server decides what else the role may connect to (pg_hba.conf).
//
// Invariants
// - No statement holds the password: the server gets a verifier of it, so that no log of the server has it either.
// - Nobody can connect to a new database before the rights of all roles to it are revoked.
// - The comment of the role names the installation that made it. No other installation gets the database, whatever their services are called.
// - Making the database of a name again keeps what is in it, and gives its role another password.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { SvcError } from '@svc/kit/svc-error';
import { connectDatabase } from './connect-database.ts';
import { databaseError } from './database-errors.ts';
import { DatabaseFailure } from './database-failure.ts';
import type { DatabaseSession } from './database-session.ts';
import { readDatabaseUrl, type DatabaseSource } from './database-source.ts';
import { type DatabaseUrl, shownHost } from './database-url.ts';

/** PostgreSQL cuts longer names off, so that two of them could be one. */
const NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** Becomes part of a statement, in which it is a literal. */
const INSTALLATION = /^[a-z0-9-]{1,64}$/;
const PASSWORD_BYTES = 32;
const SALT_BYTES = 16;
/** Iterations of the verifier, as PostgreSQL makes it by default. A random password needs no more. */
const ITERATIONS = 4096;
/** Time for one statement, in milliseconds: a database is copied from a template of a few MB. */
const STATEMENT_TIMEOUT_MS = 60_000;

/**
 * Makes role and database, and returns their URL, with the hosts of the server's URL. `server`: the URL of a role that may create roles and databases.
 * `name`: letters, digits and underscores, at most 63. `installation`: letters, digits and hyphens, at most 64. Rejects with the errors of connectDatabase,
 * and with SVC_DATABASE_UNUSABLE if another installation, or somebody else, has made a role or a database of this name.
 */
export async function makeServiceDatabase(
  server: DatabaseSource,
  name: string,
  installation: string,
): Promise<string> {
  if (!NAME.test(name)) throw new TypeError(`${name} is no name of a database`);
  if (!INSTALLATION.test(installation))
    throw new TypeError(`${installation} names no installation`);
  const session = await connectDatabase(server, { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  try {
    await make(session, { name, installation }, verifierOf(password));
  } catch (error) {
    throw error instanceof DatabaseFailure ? databaseError(error, session.shown) : error;
  } finally {
    await session.close();
  }
  return urlOf(await readDatabaseUrl(server), name, password);
}

interface Made {
  readonly name: string;
  readonly installation: string;
}

async function make(session: DatabaseSession, made: Made, verifier: string): Promise<void> {
  const { name, installation } = made;
  const owner = `svc installation ${installation}`;
  const known = await session.query(
    {
      text: `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1),
        EXISTS (SELECT FROM pg_database WHERE datname = $1),
        (SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = $1)`,
    },
    [name],
  );
  const [hasRole, hasDatabase, comment] = known[0]!;
  if ((hasRole === true || hasDatabase === true) && comment !== owner)
    throw ofAnother(session, name, owner);
  const role = `"${name}"`;
  const rights = 'LOGIN NOCREATEDB NOCREATEROLE INHERIT';
  // A role that has no comment would be somebody else's.
  await session.query({ text: 'BEGIN' });
  await session.query({
    text: `${hasRole === true ? 'ALTER' : 'CREATE'} ROLE ${role} ${rights} PASSWORD '${verifier}'`,
  });
  await session.query({ text: `COMMENT ON ROLE ${role} IS '${owner}'` });
  await session.query({ text: 'COMMIT' });
  if (hasDatabase !== true) {
    // Whoever is no superuser may give a database to a role of which it is a member.
    await session.query({ text: `GRANT ${role} TO CURRENT_USER` });
    await session.query({
      text: `CREATE DATABASE ${role} OWNER ${role} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0 ALLOW_CONNECTIONS false`,
    });
  }
  // Every role has rights to a new database, which therefore accepts no connections until these are revoked.
  await session.query({ text: `REVOKE ALL ON DATABASE ${role} FROM PUBLIC` });
  await session.query({ text: `ALTER DATABASE ${role} ALLOW_CONNECTIONS true` });
}

function ofAnother({ shown }: DatabaseSession, name: string, owner: string): SvcError {
  return new SvcError(
    'SVC_DATABASE_UNUSABLE',
    `The role or the database ${name} at ${shown} was made by another installation, which may have a service of the same name, or by somebody else. Nothing was changed. Give this installation a server of its own. If it replaces the one that made the database, restore the folder databases of that one, or, as a superuser, execute COMMENT ON ROLE "${name}" IS '${owner}'.`,
  );
}

/** Returns what the server stores of a password for SCRAM (RFC 5803). */
function verifierOf(password: string): string {
  const salt = randomBytes(SALT_BYTES);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const keyOf = (label: string) => createHmac('sha256', salted).update(label).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  const server = keyOf('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

function urlOf({ hosts, tls }: DatabaseUrl, name: string, password: string): string {
  const root = tls?.rootCertificate;
  const parameters = [
    ...(tls === undefined ? [] : ['sslmode=verify-full']),
    ...(root === undefined ? [] : [`sslrootcert=${encodeURIComponent(root)}`]),
  ];
  const query = parameters.length === 0 ? '' : `?${parameters.join('&')}`;
  return `postgresql://${name}:${password}@${hosts.map(shownHost).join(',')}/${name}${query}`;
}
