// Runtimes run with the variables and files of their manifests, on a database as CloudNativePG gives it: its URL names no authority, and its server has
// a certificate of an authority of the cluster.
import { randomInt } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  installation,
  WASM,
} from '../../support/kubernetes/installation-under-test.ts';
import { missingSandbox, PodSandbox } from '../../support/kubernetes/pod-sandbox.ts';
import { podOf } from '../../support/kubernetes/read-manifests.ts';
import { missingServer } from '../../support/postgres/postgres-programs.ts';
import { PostgresServer } from '../../support/postgres/postgres-server.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from './cluster-under-test.ts';

const missing = missingSandbox() ?? (await missingServer('18'));
if (missing !== undefined) console.log(`pod-runtime.long.test.ts is skipped: ${missing}`);

const HOST = 'counter-database-rw.svc-shop';
const ID = 'spiffe://example.org/ns/svc-shop/sa/counter';
const desired = desiredService({ ...WASM, instances: 2 });
const where = installation({ databases: CLOUD_NATIVE_PG });
const [runtime] = podOf(manifestsOf(desired, where)).containers;

interface Members {
  readonly selfNode: string;
  readonly members: readonly { readonly node: string; readonly status: string }[];
  readonly unreachable: readonly string[];
}

async function membersAt({ address }: PodSandbox): Promise<Members> {
  const answer = await fetch(`http://${address}:7626/cluster/members`);
  return (await answer.json()) as Members;
}

describe.skipIf(missing !== undefined)('the pods of a service with a database', () => {
  const folder = temporaryFolderOfFile();
  let server: PostgresServer;
  let authority: CertificateAuthority;
  let identity: Readonly<Record<string, string>>;
  let module: Uint8Array;

  beforeAll(async () => {
    authority = await CertificateAuthority.create('cluster-ca');
    const issued = await authority.issue({ dnsNames: [HOST, `${HOST}.svc`] });
    server = await PostgresServer.start('18', {
      configuration: { ssl: 'on' },
      files: { 'server.crt': issued.certificate, 'server.key': issued.key },
      hba: [
        'local all all scram-sha-256',
        'hostnossl all postgres 127.0.0.1/32 scram-sha-256',
        'hostssl all all all scram-sha-256',
      ],
    });
    const ca = await CertificateAuthority.create('installation');
    const own = await ca.issue({ uris: [ID] });
    identity = {
      '/etc/svc/identity/tls.crt': own.certificate,
      '/etc/svc/identity/tls.key': own.key,
      '/etc/svc/identity/ca.crt': ca.certificate,
    };
    module = await compileFixture('counter');
  });
  afterAll(() => server?.stop());

  /** Starts a pod; `url`: what the operator of databases has written. */
  function start(name: string, url: string): PodSandbox {
    const pod = new PodSandbox(runtime!, {
      name,
      address: `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`,
      folder: mkdtempSync(join(folder, 'pod-')),
      files: {
        ...identity,
        '/etc/svc/database/url': url,
        '/etc/svc/database/ca.crt': authority.certificate,
        '/service/module.wasm': module,
      },
      hosts: { localhost: '127.0.0.1', [HOST]: '127.0.0.1' },
    });
    onTestFinished(() => pod.kill());
    return pod;
  }

  test('verify the server by the authority of the cluster, and are members by the names of their pods', async () => {
    const { url } = await server.freshDatabase();
    const given = url.replace('127.0.0.1', HOST);
    expect(given).not.toContain('?');
    const names = ['counter-6d5f7c9b8d-x2v4q', 'counter-6d5f7c9b8d-k8m2z'];
    const pods = names.map((name) => start(name, given));
    const nodes = names.map((name) => `svc://counter@${name}:17355`).toSorted();
    let seen: unknown;
    await until(
      async () => {
        const all = await Promise.all(pods.map((pod) => membersAt(pod).catch(() => undefined)));
        seen = all;
        return all.every(
          (one) =>
            one?.members.filter(({ status }) => status === 'Up').length === 2 &&
            one.unreachable.length === 0,
        );
      },
      () => `${JSON.stringify(seen)}\n${pods.map(({ log }) => log).join('\n')}`,
    );
    for (const [at, pod] of pods.entries()) {
      const { selfNode, members } = await membersAt(pod);
      expect(selfNode).toBe(`svc://counter@${names[at]}:17355`);
      expect(members.map(({ node }) => node).toSorted()).toEqual(nodes);
      await until(async () => (await fetch(`http://${pod.address}:7626/ready`)).status === 200);
    }
    const encrypted = await server.sql(
      "SELECT count(*)::int AS count FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'svc_test' AND NOT ssl",
    );
    expect(encrypted).toEqual([{ count: 0 }]);
  });

  test('end where the server is of another authority, with a last line that says so', async () => {
    const { url } = await server.freshDatabase();
    const trusted = authority;
    authority = await CertificateAuthority.create('another');
    onTestFinished(() => void (authority = trusted));
    const pod = start('counter-6d5f7c9b8d-aaaaa', url.replace('127.0.0.1', HOST));
    expect(await pod.ended()).toBe(1);
    const last = pod.log.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toMatchObject({ level: 'error', code: 'SVC_DATABASE_UNUSABLE' });
    expect(last).toContain('is not trusted');
    // The end of an output that Kubernetes keeps as the message of a container that has failed.
    expect(Buffer.byteLength(last)).toBeLessThan(2048);
    expect(last).not.toContain('postgresql://svc_test:');
  });
});
