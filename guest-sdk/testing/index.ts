// The entry point of @svc/guest-sdk/testing: tests a module in vitest, in the runtime's own sandbox and without a
// server: its entities with given events, its endpoints with requests.
export { EntityUnderTest, testEntity } from './entity-under-test.ts';
export type { ExpectedRefusal } from './call-outcome.ts';
export type { ExpectedTimer, ExpectedTimerChange } from './expected-timers.ts';
export { type ModuleUnderTest, testModule } from './module-under-test.ts';
export { TestFailure } from './test-failure.ts';
export { TIME_DEFAULT, type Time } from './test-inputs.ts';
export {
  type EndpointsOptions,
  EndpointsUnderTest,
  testEndpoints,
} from './endpoints-under-test.ts';
export { EndpointRequests } from './endpoint-requests.ts';
export type { TestPrincipal } from './test-principals.ts';
export type { CallerName, RequestOptions } from './request-options.ts';
export type { FiredTimer } from './endpoint-timers.ts';
export type { HandledEvent } from './endpoint-consumers.ts';
export type { FindOptions, FoundRows, RowCount } from './endpoint-views.ts';
export { EndpointAnswer } from './endpoint-answer.ts';
export {
  CallFailure,
  type FakeCall,
  type FakeComponent,
  failed,
  refused,
  timedOut,
  unavailable,
} from './fake-component.ts';
export {
  answered,
  type FakeService,
  type FakeServiceRequest,
  ServiceAnswer,
} from './fake-service.ts';
