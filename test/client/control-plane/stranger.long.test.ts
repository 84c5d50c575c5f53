// A client in another language that knows the API from its OpenAPI document alone: stranger.py beside this file. It needs no package.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { ROUTES } from '@svc/client';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import {
  GOOD_IMAGE,
  ScriptedOrchestrator,
} from '../../support/scripted-orchestrator/scripted-orchestrator.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.log('A client made from the OpenAPI document is not tested: no python3');

test.skipIf(!hasPython)(
  'a client made from the OpenAPI document alone calls every route, and every answer is as declared',
  async () => {
    await using api = await ApiUnderTest.start(
      {},
      undefined,
      new ScriptedOrchestrator(SYSTEM_CLOCK),
    );
    const { provider } = api;
    const [owner, guest, admin] = await Promise.all([
      provider.issue({ subject: 'owner' }),
      provider.issue({ subject: 'auth0|a/b', email: 'guest@example.com', verified: true }),
      provider.issue({ subject: 'root', roles: ['platform-admin'] }),
    ]);
    const child = spawn('python3', [join(import.meta.dirname, 'stranger.py')], {
      env: {
        PATH: process.env['PATH'],
        API: api.control.url,
        IMAGE: GOOD_IMAGE,
        OWNER: owner,
        GUEST: guest,
        ADMIN: admin,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect({ stdout, stderr, code: child.exitCode }).toEqual({
      stdout: `${Object.keys(ROUTES).length} operations\n`,
      stderr: '',
      code: 0,
    });
  },
);
