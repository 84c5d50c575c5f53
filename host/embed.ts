// The door for programs that use the host as a library: what is behind it is promised to them.
export { SvcError } from './model/svc-error.ts';
