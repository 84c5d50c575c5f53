// MachinePerson: a person of the people file who uses an installation with `svc login-provider` from a terminal of their own: folders of their own,
// a context, and a login at the pages that a person sees.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, runSvc, SvcProcess } from './host-process.ts';
import { FormBrowser } from './identity-provider/form-browser.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Returns the value of the form field, or of the attribute `action`, in a page of the login provider. */
function valueIn(body: string, pattern: RegExp): string {
  const [, value] = pattern.exec(body) ?? [];
  if (value === undefined) throw new Error(`The page has no ${pattern.source}:\n${body}`);
  return value;
}

/** Where people reach an installation. */
export interface InstallationAddress {
  readonly url: string;
  /** File with the authority of its certificate; undefined: it has none of its own. */
  readonly authority: string | undefined;
}

/** Terminal of a person: working folder, and variables of the commands. */
export interface Terminal {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Logs in by the code of a device. Takes the 5 seconds after which the command asks the provider. Resolves with the end of `svc login`. */
export async function logInByDevice({ cwd, env }: Terminal, subject: string): Promise<Ended> {
  const login = new SvcProcess(['login', '--device'], { cwd, env });
  await login.logged(/enter the code \S+\n/);
  const [, page, code] = /^Open (\S+) in .* code (\S+)\n/m.exec(login.stderr)!;
  const browser = newBrowser();
  const entry = await browser.go(page!);
  const xsrf = valueIn(entry.body, /name="xsrf" value="([^"]+)"/);
  const people = await browser.go(page!, { xsrf, user_code: code!, confirm: 'yes' });
  await choosePerson(browser, people, subject);
  return login.ended;
}

/** Logs in with a browser of this machine. Resolves with the end of `svc login`. */
async function logInByBrowser({ cwd, env }: Terminal, subject: string): Promise<Ended> {
  const login = new SvcProcess(['login', '--no-browser'], { cwd, env });
  await login.logged(/^http\S+\n/m);
  const browser = newBrowser();
  const people = await browser.go(/^http\S+/m.exec(login.stderr)![0]);
  await choosePerson(browser, people, subject);
  return login.ended;
}

/** Returns a browser that follows the redirect to the command line, too. */
function newBrowser(): FormBrowser {
  return new FormBrowser('svc:');
}

/** Logs in at the page with the people of the login provider. */
async function choosePerson(
  browser: FormBrowser,
  people: Awaited<ReturnType<FormBrowser['go']>>,
  subject: string,
): Promise<void> {
  const token = valueIn(people.body, /name="token" value="([^"]+)"/);
  const action = new URL(valueIn(people.body, /method="post" action="([^"]+)"/), people.url).href;
  const { body } = await browser.go(action, { token, as: subject });
  if (!body.includes('You are logged in')) throw new Error(`${subject} is not logged in:\n${body}`);
}

export class MachinePerson implements Terminal {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #subject: string;

  private constructor(subject: string, cwd: string) {
    this.#subject = subject;
    this.cwd = cwd;
    this.env = {
      XDG_CONFIG_HOME: join(cwd, 'config'),
      XDG_STATE_HOME: join(cwd, 'state'),
      XDG_CACHE_HOME: join(cwd, 'cache'),
      SVC_CONTEXT: 'local',
      NO_COLOR: '1',
    };
  }

  /**
   * Makes the context with which the person reaches the installation, which runs, and logs the person in. `cwd`: an empty folder; by default one of
   * the test.
   */
  static async loggedIn(
    subject: string,
    { url, authority }: InstallationAddress,
    cwd = temporaryFolder(),
  ): Promise<MachinePerson> {
    const person = new MachinePerson(subject, cwd);
    // As an operator hands it out: the folder of the installation is closed to others.
    if (authority !== undefined) copyFileSync(authority, join(cwd, 'ca.pem'));
    const trusting = authority === undefined ? '' : ' --authority ca.pem';
    await person.svc(`context set local --url ${url}${trusting} --project shop`);
    const { code, stderr } = await logInByBrowser(person, subject);
    if (code !== 0) throw new Error(`the login of ${subject} ended with ${code}: ${stderr}`);
    return person;
  }

  /** Runs a command to its end, whatever its exit code. No word may have a blank. */
  run(line: string): Promise<Ended> {
    return runSvc(line.split(' '), { cwd: this.cwd, env: this.env });
  }

  /** Runs a command that has to succeed. Resolves with its output. */
  async svc(line: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(line);
    if (code !== 0)
      throw new Error(`svc ${line} of ${this.#subject} ended with ${code}: ${stderr}`);
    return stdout + stderr;
  }
}
