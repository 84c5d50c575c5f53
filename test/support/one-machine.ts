// OneMachine: an installation of `svc up` in folders of a test, and the commands of its user. `svc down` ends it with the test.
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { processEnd, type ProcessStart } from '../../kit/process-start.ts';
import { freePorts } from './free-ports.ts';
import { type Ended, runSvc, SvcProcess } from './host-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The people file of an installation of tests. */
export const PEOPLE = `people:
  - subject: ann
  - subject: bob
    email: bob@example.com
    emailVerified: true
machines:
  - clientId: ci
    secret: a-secret-of-16-characters-or-more
    roles: [platform-admin, tenant-admin, platform]
    tenants: [local]
`;

/** Variables of the commands of its platform administrator. */
export const MACHINE = {
  SVC_CLIENT_ID: 'ci',
  SVC_CLIENT_SECRET: 'a-secret-of-16-characters-or-more',
};

interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface OwnerFile {
  readonly phase: string;
  readonly owner: ProcessStart;
  readonly programs: Readonly<Record<string, ProcessStart>>;
}

export class OneMachine {
  readonly cwd = temporaryFolder();
  readonly folder = join(this.cwd, 'state');
  readonly ports: readonly [
    gateway: number,
    api: number,
    login: number,
    registry: number,
    http: number,
  ];
  readonly env: NodeJS.ProcessEnv;

  private constructor(ports: OneMachine['ports'], credentials: NodeJS.ProcessEnv) {
    this.ports = ports;
    this.env = {
      XDG_CONFIG_HOME: join(this.cwd, 'config'),
      XDG_STATE_HOME: join(this.cwd, 'user-state'),
      XDG_CACHE_HOME: join(this.cwd, 'cache'),
      SVC_CONTEXT: 'local',
      ...credentials,
    };
    writeFileSync(join(this.cwd, 'people.yaml'), PEOPLE);
  }

  /** `credentials`: variables of the user's commands; by default those of a machine, which needs no login. */
  static async make(credentials: NodeJS.ProcessEnv = MACHINE): Promise<OneMachine> {
    const [gateway, api, login, registry, http] = await freePorts(5);
    const machine = new OneMachine([gateway!, api!, login!, registry!, http!], credentials);
    onTestFinished(async () => void (await machine.run('down')));
    return machine;
  }

  /** URL of the control plane, at the gateway. */
  get url(): string {
    return `https://api.svc.localhost:${this.ports[0]}`;
  }

  /** File with the authority of the certificates of hostnames. */
  get authority(): string {
    return join(this.folder, 'machine', 'ca.pem');
  }

  /** The words of `svc up`. */
  upWords(...more: readonly string[]): readonly string[] {
    const names = ['--port', '--api-port', '--login-port', '--registry-port', '--http-port'];
    const ports = names.flatMap((name, index) => [name, String(this.ports[index])]);
    return ['up', '--folder', this.folder, '--people', 'people.yaml', ...ports, ...more];
  }

  /** Starts `svc up` in the foreground. */
  start(...more: readonly string[]): SvcProcess {
    return new SvcProcess(this.upWords(...more), { cwd: this.cwd, env: this.env });
  }

  /** Runs a command to its end, whatever its exit code. */
  run(line: string): Promise<Ended> {
    const words = line === 'down' ? ['down', '--folder', this.folder] : line.split(' ');
    return runSvc(words, { cwd: this.cwd, env: this.env });
  }

  /** Runs a command that has to succeed. Resolves with its output. */
  async svc(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(line);
    if (code !== 0) throw new Error(`svc ${line} ended with ${code}: ${stderr}`);
    return stdout + stderr;
  }

  async upInBackground(...more: readonly string[]): Promise<string> {
    // As npx starts it: what continues in the background does not end with npm.
    const env = { ...this.env, npm_lifecycle_event: 'npx' };
    const { code, stderr } = await runSvc(this.upWords('-d', ...more), { cwd: this.cwd, env });
    if (code !== 0) throw new Error(`svc up -d ended with ${code}: ${stderr}`);
    return stderr;
  }

  owner(): OwnerFile {
    return JSON.parse(readFileSync(join(this.folder, 'owner.json'), 'utf8')) as OwnerFile;
  }

  /** Sends a request to a service of the project `shop` at its derived hostname. */
  send(service: string, path: string, body?: string, token?: string): Promise<Answer> {
    return this.sendTo(`${service}-shop`, path, body, token);
  }

  /**
   * Sends a request to a name below the base domain, with an access token if there is one. Rejects if the certificate is not that of the
   * installation.
   */
  async sendTo(label: string, path: string, body?: string, token?: string): Promise<Answer> {
    const [port] = this.ports;
    const hostname = `${label}.svc.localhost`;
    return new Promise((resolve, reject) => {
      request(
        {
          host: '127.0.0.1',
          port,
          path,
          agent: false,
          method: body === undefined ? 'GET' : 'POST',
          servername: hostname,
          ca: readFileSync(this.authority),
          headers: {
            host: `${hostname}:${port}`,
            'content-type': 'application/json',
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          },
        },
        (response) =>
          void text(response).then(
            (answer) => resolve({ status: response.statusCode!, body: answer }),
            reject,
          ),
      )
        .on('error', reject)
        .end(body);
    });
  }
}

export const runs = (start: ProcessStart): boolean => processEnd(start) === undefined;
