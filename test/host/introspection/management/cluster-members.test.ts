// ClusterMembers: an instance is a cluster of one.
import { expect, test } from 'vitest';
import { SingleNode } from '../../../../host/introspection/management/cluster-members.ts';

test('an instance is the one node of its cluster, and Up until it leaves', () => {
  const self = new SingleNode('shopping-cart', 'shopping-cart-0', '0123456789abcdef');
  const node = 'svc://shopping-cart@shopping-cart-0:17355';
  expect(self.members()).toEqual({
    selfNode: node,
    leader: node,
    oldest: node,
    members: [{ node, nodeUid: '0123456789abcdef', status: 'Up', roles: [] }],
    unreachable: [],
  });
  self.leave();
  expect(self.members().members).toMatchObject([{ node, status: 'Leaving' }]);
});
