// ControlPlaneProcess: a real `svc control-plane` process with a real identity provider, and requests to it.
import { join } from 'node:path';
import { fetchDocumented } from './documented-answers.ts';
import { SvcProcess } from './host-process.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import { CLI_CLIENT } from './identity-provider/provider-rules.ts';

/** File with the control plane's own code, for tools that read its folder. */
export const COMPONENTS = join(import.meta.dirname, '..', '..', 'control-plane', 'components.ts');

export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

export function providerSettings({
  issuer,
  audience,
}: Pick<IdentityProvider, 'issuer' | 'audience'>): NodeJS.ProcessEnv {
  return {
    SVC_AUTH_ISSUER: issuer,
    SVC_AUTH_CLIENT_ID: CLI_CLIENT,
    SVC_AUTH_AUDIENCE: audience,
  };
}

export class ControlPlaneProcess extends SvcProcess {
  readonly #provider: IdentityProvider;
  #url: Promise<string> | undefined;

  constructor(
    provider: IdentityProvider,
    cwd: string,
    { args = [], env = {} }: { readonly args?: readonly string[]; env?: NodeJS.ProcessEnv } = {},
  ) {
    super(['control-plane', '--port', '0', '--data', 'data', ...args], {
      cwd,
      env: { ...providerSettings(provider), ...env },
    });
    this.#provider = provider;
  }

  /** Sends `GET /auth/whoami` as the subject. */
  async send(line: string, subject: string, json?: object): Promise<Answered> {
    const [method, path] = line.split(' ') as [string, string];
    const token = await this.#provider.issue({ subject });
    this.#url ??= this.listening();
    const response = await fetchDocumented(`${await this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}
