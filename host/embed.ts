// The one door for programs that use the host as a library.
export { inspectModule, type ModuleReport } from './hosting/wasm/admission.ts';
