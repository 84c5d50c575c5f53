// MetricsText: Prometheus' text exposition format, version 0.0.4.
import { expect, test } from 'vitest';
import {
  METRICS_CONTENT_TYPE,
  metricsText,
} from '../../../../host/introspection/observability/metrics-text.ts';

test('each family has its HELP and TYPE, and then its samples', () => {
  const text = metricsText([
    { name: 'a_total', type: 'counter', help: 'What a is.', samples: [{ value: 1.5 }] },
    {
      name: 'b',
      type: 'histogram',
      help: 'What b is.',
      samples: [
        { suffix: '_bucket', labels: { kind: 'x', le: '+Inf' }, value: 2 },
        { suffix: '_sum', labels: {}, value: 3 },
      ],
    },
    { name: 'c', type: 'gauge', help: 'Nothing yet.', samples: [] },
  ]);
  expect(text).toBe(
    '# HELP a_total What a is.\n# TYPE a_total counter\na_total 1.5\n' +
      '# HELP b What b is.\n# TYPE b histogram\nb_bucket{kind="x",le="+Inf"} 2\nb_sum 3\n' +
      '# HELP c Nothing yet.\n# TYPE c gauge\n',
  );
  expect(METRICS_CONTENT_TYPE).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('label values are escaped', () => {
  const value = 'a"b\\c\nd\re{},= \ud800世';
  const text = metricsText([
    { name: 'a', type: 'gauge', help: 'h', samples: [{ labels: { l: value }, value: 0 }] },
  ]);
  expect(text.split('\n')[2]).toBe('a{l="a\\"b\\\\c\\nd\re{},= \ufffd世"} 0');
  // Parses the text as a reader of the format would.
  expect(text.split('\n')).toHaveLength(4);
});

test('a help text of several lines is one line', () => {
  const text = metricsText([{ name: 'a', type: 'gauge', help: 'b\nc\\d', samples: [] }]);
  expect(text).toBe('# HELP a b\\nc\\\\d\n# TYPE a gauge\n');
});
