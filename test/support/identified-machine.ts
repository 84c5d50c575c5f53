// IdentifiedMachine: a real `svc control-plane` whose services have identities, in a folder of its own, and requests to them.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import { LocalMachine, type ShownStatus } from './local-machine.ts';

export const DOMAIN = 'svc.localhost';

interface Answer {
  readonly status: number;
  readonly body: string;
  /** The certificate of the instance. */
  readonly leaf: X509Certificate;
}

interface Asking {
  /** Folder of the identity with which the request is made; undefined: without one. */
  readonly as: string | undefined;
  /** Authorities that are trusted, in PEM. */
  readonly trusted: string;
  /** Absent: the request is a GET. */
  readonly body?: string;
  /** Default with a body: POST. */
  readonly method?: string;
  /** Access token of the request. */
  readonly token?: string | undefined;
}

export class IdentifiedMachine {
  readonly machine: LocalMachine;
  /** Folder of the machine. */
  readonly folder: string;
  /** Folder of the gateway's identity. */
  readonly gateway: string;

  private constructor(machine: LocalMachine) {
    this.machine = machine;
    this.folder = join(machine.cwd, 'machine');
    this.gateway = join(this.folder, 'gateway', 'identity');
  }

  /** `env`: further settings. */
  static async start(
    provider: IdentityProvider,
    env: Readonly<Record<string, string>> = {},
  ): Promise<IdentifiedMachine> {
    const machine = new LocalMachine(provider, {
      SVC_CONTROL_PLANE_BASE_DOMAIN: DOMAIN,
      SVC_LOCAL_PLAIN_INSTANCES: 'false',
      ...env,
    });
    return new IdentifiedMachine(await machine.withProject());
  }

  /** Resolves once the service is ready. `more`: further fields of the descriptor. */
  async deploy(name: string, layout: string, more: object = {}): Promise<InstanceFolder> {
    const image = `oci:images/${layout}:1`;
    const descriptor = { name, image, hosting: 'wasm', protocol: '0.2.0', ...more };
    const path = `/services/shop/${name}`;
    const { svc } = this.machine;
    const { generation } = (await svc.send(`PUT ${path}`, 'ann', descriptor)).body as ShownStatus;
    for (;;) {
      const status = (await svc.send(`GET ${path}`, 'ann')).body as ShownStatus;
      if (status.generation === generation && status.lifecycle === 'ready') break;
      if (status.lifecycle === 'failed') throw new Error(JSON.stringify(status));
      await pause(50);
    }
    return this.instance(name);
  }

  instance(name: string): InstanceFolder {
    return this.machine.instances().find(({ spec }) => spec.key.service === name)!;
  }

  /** Asks an instance on a new connection. Rejects if the handshake fails. */
  ask(
    { spec }: InstanceFolder,
    path: string,
    { as, trusted, body, method = 'POST', token }: Asking,
  ): Promise<Answer> {
    const own = as === undefined ? {} : { cert: textIn(as, 'tls.crt'), key: textIn(as, 'tls.key') };
    const agent = new Agent({ maxCachedSessions: 0 });
    onTestFinished(() => agent.destroy());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const options = {
      agent,
      host: spec.address,
      port: spec.ports.http,
      path,
      ...(body === undefined ? {} : { method }),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ca: trusted,
      checkServerIdentity: () => undefined,
      ...own,
    };
    request(options, (response) => {
      const leaf = (response.socket as TLSSocket).getPeerX509Certificate()!;
      let read = '';
      response.setEncoding('utf8').on('data', (part: string) => (read += part));
      response.on('end', () => resolve({ status: response.statusCode!, body: read, leaf }));
    })
      .on('error', reject)
      .end(body);
    return promise;
  }

  /** The identity of the gateway, for a request. */
  get asGateway(): Pick<Asking, 'as' | 'trusted'> {
    return { as: this.gateway, trusted: textIn(this.gateway, 'ca.crt') };
  }

  /** Asks an instance as the gateway. */
  askAsGateway(
    instance: InstanceFolder,
    path: string,
    body?: string,
    method?: string,
  ): Promise<Answer> {
    return this.ask(instance, path, {
      ...this.asGateway,
      ...(body === undefined ? {} : { body }),
      ...(method === undefined ? {} : { method }),
    });
  }
}

export function textIn(folder: string, name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}
