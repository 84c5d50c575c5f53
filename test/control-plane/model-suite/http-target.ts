// HttpTarget: a whole control plane that is served over HTTP in this process. It is restarted, and not killed: see
// process-target.ts.
import { vi } from 'vitest';
import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import { expectRunSettled } from './expect-run-settled.ts';
import type { Target } from './history-fleet.ts';
import { HttpDriver } from './http-driver.ts';
import { startForHistories } from './control-plane-for-histories.ts';

export class HttpTarget implements Target {
  readonly driver: HttpDriver;
  readonly #dataFolder: string;
  #control: ControlPlane;

  private constructor(dataFolder: string, control: ControlPlane) {
    this.#dataFolder = dataFolder;
    this.#control = control;
    this.driver = new HttpDriver(
      () => this.#control.url,
      (run) => expectRunSettled((entity, id) => this.#control.service.call(entity, id), run),
    );
  }

  static async start(dataFolder: string): Promise<HttpTarget> {
    return new HttpTarget(dataFolder, await startForHistories(dataFolder));
  }

  async restart(): Promise<void> {
    await this.#control.stop();
    this.#control = await startForHistories(this.#dataFolder);
  }

  /** A control plane in this process is not killed. */
  beginKill(): void {}

  async endKill(): Promise<void> {}

  passTime(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  async stop(): Promise<void> {
    await this.#control.stop();
  }
}
