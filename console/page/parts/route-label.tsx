// RouteLabel: a route as its method and template, with its parameters highlighted.
import { visibleLine } from '../view/visible-text.ts';

export function RouteLabel({
  route,
}: {
  readonly route: { readonly method: string; readonly path: string };
}) {
  return (
    <span class="route-label">
      <span class={`method is-${route.method}`}>{route.method}</span>{' '}
      <span class="template">
        {visibleLine(route.path)
          .split(/(\{[^}]*\})/)
          .map((part, at) => (at % 2 === 1 ? <em key={at}>{part}</em> : part))}
      </span>
    </span>
  );
}
