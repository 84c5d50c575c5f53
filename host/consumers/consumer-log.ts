// ConsumerLog: the messages of log lines about events that a consumer does not handle. Their fields are `consumer`, `component`,
// `entity`, `seq` and `reason`.

export const EVENT_PARKED = 'the events of an entity are parked';
export const EVENT_SKIPPED = 'a consumer skips an event';
