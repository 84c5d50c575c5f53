// Cluster: in which Kubernetes cluster the services of the installation run. There is one, with the id CLUSTER_ID. The control plane applies nothing to a
// cluster of another uid, where services would begin with empty journals.
import { Type } from 'typebox';
import { defineEntity } from '@svc/host';

export const CLUSTER_ID = 'cluster';

const Cluster = Type.Object({
  /** The uid of its namespace kube-system. Absent: none is known yet. */
  uid: Type.Optional(Type.String()),
});

const ClusterEvent = Type.Object({ type: Type.Literal('cluster-chosen'), uid: Type.String() });

export const cluster = defineEntity({
  component: 'cluster',
  state: { manifest: 'cluster', schema: Cluster },
  event: { manifest: 'cluster-event', schema: ClusterEvent },

  empty: () => ({}),

  apply: (_, { uid }) => ({ uid }),

  commands: {
    /** Chooses the cluster if there is none yet, or if the operator says that it is a new one. Replies with the uid that counts. */
    remember: {
      input: Type.Object({ uid: Type.String(), isNew: Type.Boolean() }),
      reply: Type.Object({ uid: Type.String() }),
      handle(state, { uid, isNew }, { persist, reply }) {
        const known = state.uid;
        if (known === uid || (known !== undefined && !isNew)) return reply({ uid: known });
        return persist({ type: 'cluster-chosen', uid }).thenReply({ uid });
      },
    },
  },
});
