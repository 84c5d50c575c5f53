// ProcessEnvironment: the environment of a process that svc starts to hold the code of a service: that of svc, and the port on which the
// process has to listen.
import { PROCESS_PORT_VARIABLE } from '@svc/process-protocol/protocol';

/** By these svc speaks with itself: where it caches its compiled sources, and whose end stops it. */
const OWN = ['NODE_COMPILE_CACHE', 'SVC_PARENT_PID'];

export function processEnvironment(env: NodeJS.ProcessEnv, port: number): NodeJS.ProcessEnv {
  const own: NodeJS.ProcessEnv = { ...env, [PROCESS_PORT_VARIABLE]: String(port) };
  for (const name of OWN) delete own[name];
  return own;
}
