// FlowTarget: the entities and consumers of a control plane, whose flows are called without HTTP.
import { vi } from 'vitest';
import { createService, type Service } from '@svc/host';
import { components } from '../../../control-plane/components.ts';
import { FlowDriver } from './flow-driver.ts';
import type { Target } from './history-fleet.ts';

export class FlowTarget implements Target {
  readonly driver: FlowDriver;
  readonly #dataFolder: string;
  #service: Service;

  private constructor(dataFolder: string, service: Service) {
    this.#dataFolder = dataFolder;
    this.#service = service;
    this.driver = new FlowDriver(() => (entity, id) => this.#service.call(entity, id));
  }

  static async start(dataFolder: string): Promise<FlowTarget> {
    return new FlowTarget(dataFolder, await started(dataFolder));
  }

  async restart(): Promise<void> {
    await this.#service.stop();
    this.#service = await started(this.#dataFolder);
  }

  beginKill(afterCalls: number): void {
    this.driver.cutAfter = afterCalls;
  }

  async endKill(): Promise<void> {
    this.driver.cutAfter = undefined;
    await this.restart();
  }

  passTime(ms: number): void {
    vi.setSystemTime(Date.now() + ms);
  }

  async stop(): Promise<void> {
    await this.#service.stop();
  }
}

function started(dataFolder: string): Promise<Service> {
  return createService({
    ...components,
    name: 'control-plane',
    http: false,
    log: 'none',
    dataFolder,
  });
}
