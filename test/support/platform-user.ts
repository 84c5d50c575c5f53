// PlatformUser: a person at a terminal, whose contexts and logins are in folders of their own, and who runs the command line as processes.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runSvc, SvcProcess, type Ended } from './host-process.ts';
import { visitLogin } from './identity-provider/logins.ts';
import { temporaryFolder } from './temporary-folder.ts';

export class PlatformUser {
  readonly home = temporaryFolder();
  readonly env: Record<string, string>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.env = {
      XDG_CONFIG_HOME: join(this.home, 'config'),
      XDG_STATE_HOME: join(this.home, 'state'),
      XDG_CACHE_HOME: join(this.home, 'cache'),
      NO_COLOR: '1',
      ...env,
    };
  }

  async svc(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return await runSvc(args, { cwd: this.home, env: { ...this.env, ...env } });
  }

  start(args: readonly string[]): SvcProcess {
    const svc = new SvcProcess(args, { cwd: this.home, env: this.env });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    return svc;
  }

  /** Starts a login, and returns the page that it shows. */
  async startLogin(): Promise<{ readonly login: SvcProcess; readonly page: string }> {
    const login = this.start(['login', '--no-browser']);
    await login.logged(/^http\S+$/m);
    return { login, page: /^http\S+$/m.exec(login.stderr)![0] };
  }

  async logIn(subject: string): Promise<Ended> {
    const { login, page } = await this.startLogin();
    await visitLogin(page, subject);
    return await login.ended;
  }

  /** The path of the only stored login; undefined if there is none. */
  get loginPath(): string | undefined {
    const folder = join(this.home, 'state', 'svc', 'logins');
    const name = readdirSync(folder).find((each) => each.endsWith('.json'));
    return name === undefined ? undefined : join(folder, name);
  }

  get login(): Record<string, unknown> {
    return JSON.parse(readFileSync(this.loginPath!, 'utf8')) as Record<string, unknown>;
  }

  changeLogin(change: Readonly<Record<string, unknown>>): void {
    writeFileSync(this.loginPath!, JSON.stringify({ ...this.login, ...change }));
  }

  /** Path below the home → mode, of all files and folders that the command line has made. */
  modes(): Readonly<Record<string, string>> {
    const paths = readdirSync(this.home, { recursive: true, encoding: 'utf8' });
    return Object.fromEntries(
      paths.map((path) => [path, (statSync(join(this.home, path)).mode & 0o777).toString(8)]),
    );
  }
}
