// ConsumerStatements are the statements that write how far consumers are, and which of their lanes wait.

export const PUT_CONSUMER = {
  name: 'put-consumer',
  text: `INSERT INTO svc.consumer (consumer, start, crc) VALUES ($1, $2, $3)
  ON CONFLICT (consumer) DO UPDATE SET start = excluded.start, crc = excluded.crc`,
};
/** The rows are locked in the order of their slices, also those that stay as they are. */
export const PUT_OFFSETS = {
  name: 'put-offsets',
  text: `INSERT INTO svc.consumer_offset (consumer, slice, off, crc)
  SELECT $1, p.slice, p.off, p.crc FROM unnest($2::int2[], $3::int8[], $4::int8[]) AS p(slice, off, crc) ORDER BY p.slice
  ON CONFLICT (consumer, slice) DO UPDATE SET off = excluded.off, crc = excluded.crc
  WHERE consumer_offset.off <> excluded.off OR consumer_offset.crc <> excluded.crc`,
};
export const REMOVE_LANES = {
  name: 'remove-lanes',
  text: `DELETE FROM svc.lane l USING unnest($2::int2[], $3::text[], $4::text[]) AS r(slice, component, id)
  WHERE l.consumer = $1 AND l.slice = r.slice AND l.component = r.component AND l.id = r.id`,
};
export const PUT_LANES = {
  name: 'put-lanes',
  text: `INSERT INTO svc.lane (consumer, slice, component, id, seq, attempts, round, next_ms, reason, crc)
  SELECT $1, p.* FROM unnest($2::int2[], $3::text[], $4::text[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::text[],
    $10::int8[]) AS p(slice)
  ON CONFLICT (consumer, slice, component, id) DO UPDATE SET seq = excluded.seq, attempts = excluded.attempts,
    round = excluded.round, next_ms = excluded.next_ms, reason = excluded.reason, crc = excluded.crc`,
};

/** Stores a consumer that is new, and says whether it was. */
export const BEGIN_CONSUMER = {
  name: 'begin-consumer',
  text: `INSERT INTO svc.consumer (consumer, start, crc) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1`,
};
