// KeptCommand keeps the process running that holds the code of a service, at one port of 127.0.0.1: its lines are lines of the service's log, and a
// change of the watched folder starts it again. It outlives the runtime of one code: the process may come back with other code.
import { freePort } from '@svc/kit/process-port';
import {
  COMMAND_TIMES_DEFAULT,
  type CommandTimes,
  SupervisedCommand,
} from '@svc/kit/supervised-command';
import { limitedLog } from '@svc/kit/limited-log';
import type { Log } from '@svc/kit/log';
import { WatchedFiles } from '@svc/kit/watched-files';
import { PROCESS_PORT_VARIABLE } from '@svc/process-protocol/protocol';
import { processEnvironment } from '../hosting/process/process-environment.ts';
import type { SupervisorLimits } from '../shards/supervisor-limits.ts';
import type { CommandCode, ServedCode } from './service-code.ts';
import type { SettingsSections } from './section-settings.ts';

export interface KeptCommandNeeds {
  readonly sections: Pick<SettingsSections, 'log' | 'supervisor'>;
  /** Environment of svc. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

const WORDS = { portSetting: 'the port of the process', silence };

export class KeptCommand {
  readonly #address: string;
  readonly #command: SupervisedCommand;
  #watch: WatchedFiles | undefined;
  #listens = Promise.withResolvers<void>();

  private constructor(command: readonly string[], port: number, needs: KeptCommandNeeds) {
    const { sections, env, log } = needs;
    const lines = limitedLog(log, sections.log, () => performance.now());
    this.#address = `127.0.0.1:${port}`;
    this.#command = new SupervisedCommand({
      command,
      cwd: process.cwd(),
      environment: (chosen) => processEnvironment(env, chosen),
      processPort: port,
      words: WORDS,
      times: timesOf(sections.supervisor),
      log,
      onLine: (stream, message) =>
        lines({ level: 'info', message, fields: { from: 'process', stream } }),
      onListening: () => {
        this.#listens.resolve();
        this.#listens = Promise.withResolvers();
      },
    });
  }

  /** Resolves once the process runs; it need not listen yet. Rejects with SVC_COMMAND_NOT_STARTED and SVC_WATCH_FAILED. */
  static async start(
    { command, watched }: CommandCode,
    needs: KeptCommandNeeds,
  ): Promise<KeptCommand> {
    const started = new KeptCommand(command, await freePort(0), needs);
    await started.#command.start();
    try {
      if (watched !== undefined) started.#watchFiles(watched, needs.log);
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  /** The process, for the runtime. */
  get code(): ServedCode {
    return { kind: 'process', address: this.#address };
  }

  /** Resolves when a process of the command begins to listen the next time. */
  get listensAgain(): Promise<void> {
    return this.#listens.promise;
  }

  /** Ends the process, and all that it has started. */
  async stop(): Promise<void> {
    this.#watch?.close();
    await this.#command.stop();
  }

  #watchFiles(folder: string, log: Log): void {
    this.#watch = new WatchedFiles({
      paths: [folder],
      onChange: (changed) => {
        log({ level: 'info', message: 'the process is started again', fields: { changed } });
        this.#command.restart();
      },
      onFailure: ({ message, code }) => log({ level: 'error', message, fields: { code } }),
    });
  }
}

function timesOf({
  stopGraceMs,
  restartPauseMs,
  restartPauseMaxMs,
}: SupervisorLimits): CommandTimes {
  return {
    ...COMMAND_TIMES_DEFAULT,
    stopGraceMs,
    pauseFirstMs: restartPauseMs,
    pauseMaxMs: restartPauseMaxMs,
  };
}

/** Says what to do about a process that does not listen. */
function silence(port: number): string {
  return `the process does not listen yet: it has to serve the process protocol on 127.0.0.1 and the port ${port}, which the variable ${PROCESS_PORT_VARIABLE} names`;
}
