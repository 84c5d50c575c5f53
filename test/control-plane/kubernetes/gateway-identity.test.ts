// The certificate of the gateway is kept in a secret, and the authority that issues it is not lost without a word.
import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, SYSTEM_CLOCK } from '../../../kit/clock.ts';
import type { AuthorityChoice } from '../../../control-plane/kubernetes/certificate-settings.ts';
import { identityIn } from '../../../control-plane/kubernetes/manifests/identity-secret.ts';
import {
  openIdentities,
  type OpenedIdentities,
} from '../../../control-plane/kubernetes/open-identities.ts';
import { parseCertificates } from '../../../identity/certificates.ts';
import {
  DAY_MS,
  GivenFolder,
  madeAuthority,
  MINUTE_MS,
  SETTLE_MS,
} from '../../support/certificates/given-folder.ts';
import { installation } from '../../support/kubernetes/installation-under-test.ts';
import { StoredObjects } from './stored-objects.ts';

const SECRET = '/api/v1/namespaces/svc-platform/secrets/gateway-identity';
const GATEWAY = 'spiffe://example.org/ns/svc-platform/sa/gateway';

let cluster: StoredObjects;
let folder: GivenFolder;
/** Ends the pause between two checks. */
let look: (() => void) | undefined;
/** Resolves with the end of a check, when the pause begins. */
let pausing: PromiseWithResolvers<void>;

beforeEach(async () => {
  cluster = await StoredObjects.start();
  folder = new GivenFolder();
});
afterEach(() => cluster[Symbol.asyncDispose]());

async function open(authority?: AuthorityChoice): Promise<OpenedIdentities & AsyncDisposable> {
  pausing = Promise.withResolvers();
  const clock: Clock = {
    ...SYSTEM_CLOCK,
    nowMs: () => folder.nowMs,
    after: (ms, callback) => {
      expect(ms).toBe(MINUTE_MS);
      look = callback;
      pausing.resolve();
      return () => (look = undefined);
    },
  };
  const opened = await openIdentities({
    client: cluster.api.client(),
    installation: installation(),
    authority: authority ?? { kind: 'given', folder: folder.folder },
    gatewaySecret: 'gateway-identity',
    section: {
      identityLifetimeMs: DAY_MS,
      authoritySettleMs: SETTLE_MS,
      certificatePollMs: MINUTE_MS,
    },
    clock,
    log: (entry) => void folder.logged.push(entry),
  });
  const gateway = opened.keepGateway();
  const dispose = () => gateway[Symbol.asyncDispose]();
  onTestFinished(dispose);
  await pausing.promise;
  return { ...opened, [Symbol.asyncDispose]: dispose };
}

async function lookAgain(): Promise<void> {
  const next = look!;
  pausing = Promise.withResolvers();
  next();
  await pausing.promise;
}

const texts = () => identityIn(cluster.objects.get(SECRET)!)!;
const leaf = () => new X509Certificate(texts().certificate);
const leafProblem = () => {
  const parsed = parseCertificates(texts(), folder.nowMs, GATEWAY);
  return 'problem' in parsed ? parsed.problem : undefined;
};

const own = (isNew = false): AuthorityChoice => ({
  kind: 'own',
  file: join(folder.folder, 'authorities', 'identities.json'),
  publishedFile: join(folder.folder, 'identities.crt'),
  isNew,
});
const file = () => join(folder.folder, 'authorities', 'identities.json');

describe('the secret of the gateway', () => {
  test('is made, left as it is, and renewed after half of its lifetime, without anybody asking', async () => {
    folder.write(await madeAuthority());
    folder.nowMs += 1000;
    await open();
    expect(leafProblem()).toBeUndefined();
    expect(cluster.objects.get(SECRET)).toMatchObject({
      type: 'kubernetes.io/tls',
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'svc' } },
    });
    const first = leaf().fingerprint256;
    cluster.takeWrites();
    folder.nowMs += DAY_MS / 2 - 1000;
    await lookAgain();
    expect(cluster.takeWrites()).toEqual([]);
    folder.nowMs += 1000;
    await lookAgain();
    expect(cluster.takeWrites()).toEqual([`PATCH ${SECRET}`]);
    expect(leaf().fingerprint256).not.toBe(first);
    cluster.objects.delete(SECRET);
    await lookAgain();
    expect(leafProblem()).toBeUndefined();
  });

  test('has another authority with the next check after its files have changed', async () => {
    const [former, next] = [await madeAuthority(), await madeAuthority()];
    folder.write(former);
    const { identities } = await open();
    folder.nowMs += SETTLE_MS;
    const { revision } = identities;
    folder.write(next, [former]);
    await lookAgain();
    expect(identities.revision).not.toBe(revision);
    expect(texts().authorities).toBe(`${former.certificate}${next.certificate}`);
    expect(leaf().checkIssued(new X509Certificate(former.certificate))).toBe(true);
    folder.nowMs += SETTLE_MS;
    await lookAgain();
    expect(leaf().checkIssued(new X509Certificate(next.certificate))).toBe(true);
  });

  test('that is not ours stays as it is, and the log says so', async () => {
    folder.write(await madeAuthority());
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
    const theirs = { metadata: { name: 'gateway-identity', uid: 'theirs', labels } };
    cluster.objects.set(SECRET, theirs);
    await open();
    expect(cluster.objects.get(SECRET)).toEqual(theirs);
    expect(folder.logged.map(({ message }) => message)).toEqual([
      'The certificate of the gateway cannot be kept, which is tried again: the Secret gateway-identity in the namespace svc-platform exists and is not managed by svc: rename or delete it, or choose another name for the one of the gateway',
    ]);
  });

  test('is tried again after the cluster could not be asked', async () => {
    folder.write(await madeAuthority());
    cluster.refusals.set(`GET ${SECRET}`, { status: 500, reason: 'InternalError', message: 'no' });
    await open();
    expect(cluster.objects.has(SECRET)).toBe(false);
    expect(folder.logged).toHaveLength(1);
    cluster.refusals.clear();
    await lookAgain();
    expect(leafProblem()).toBeUndefined();
  });

  test('is not written any more once the identities are closed', async () => {
    folder.write(await madeAuthority());
    const opened = await open();
    await opened[Symbol.asyncDispose]();
    expect(look).toBeUndefined();
  });
});

describe('an authority that the control plane makes', () => {
  test('is made once', async () => {
    await (await open(own()))[Symbol.asyncDispose]();
    const [made, first] = [readFileSync(file(), 'utf8'), leaf().fingerprint256];
    await open(own());
    expect(readFileSync(file(), 'utf8')).toBe(made);
    expect(leaf().fingerprint256).toBe(first);
    expect(leafProblem()).toBeUndefined();
  });

  test('is not made again if services trust one already, unless the operator asks for it', async () => {
    await (await open(own()))[Symbol.asyncDispose]();
    const former = texts().authorities;
    rmSync(file());
    await expect(open(own())).rejects.toMatchObject({
      code: 'SVC_AUTHORITY_LOST',
      message: `The authority that the services of the cluster trust is gone: there is no file ${file()}. Restore the file from a backup, or start with svc.kubernetes.new-authority=true, which makes another authority.`,
    });
    await open(own(true));
    expect(texts().authorities).toMatch(/^(?:-----BEGIN [^]*?-----END [^]*?-----\n){2}$/);
    expect(texts().authorities.endsWith(former)).toBe(true);
  });

  test('is not replaced if its file is torn', async () => {
    await (await open(own()))[Symbol.asyncDispose]();
    writeFileSync(file(), '{');
    await expect(open(own())).rejects.toMatchObject({ code: 'SVC_AUTHORITY_UNUSABLE' });
  });
});
