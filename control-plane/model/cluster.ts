// Cluster: in which Kubernetes cluster the services of the installation run. There is one, with the id CLUSTER_ID. The control plane applies nothing to a
// cluster of another uid, where services would begin with empty journals. The id of the installation is chosen once, and stays through a move: it distinguishes the
// projects of this installation from those of another one in the same cluster.
import { Type } from 'typebox';
import { defineEntity } from '@svc/host';

export const CLUSTER_ID = 'cluster';

const Cluster = Type.Object({
  /** The uid of its namespace kube-system. Absent: none is known yet. */
  uid: Type.Optional(Type.String()),
  /** Absent: none was chosen yet, as in journals of before there were ids. */
  installation: Type.Optional(Type.String()),
});

const ClusterEvent = Type.Object({
  type: Type.Literal('cluster-chosen'),
  uid: Type.String(),
  installation: Type.Optional(Type.String()),
});

const Chosen = Type.Object({ uid: Type.String(), installation: Type.String() });

export const cluster = defineEntity({
  component: 'cluster',
  state: { manifest: 'cluster', schema: Cluster },
  event: { manifest: 'cluster-event', schema: ClusterEvent },

  empty: () => ({}),

  apply: (state, { uid, installation = state.installation }) =>
    installation === undefined ? { uid } : { uid, installation },

  commands: {
    /**
     * Chooses the cluster if there is none yet, or if the operator says that it is a new one, and the id if there is none yet. Replies with the
     * uid and the id that count.
     */
    remember: {
      input: Type.Object({
        uid: Type.String(),
        isNew: Type.Boolean(),
        installation: Type.String(),
      }),
      reply: Chosen,
      handle(state, { uid, isNew, installation }, { persist, reply }) {
        const chosen = {
          uid: isNew ? uid : (state.uid ?? uid),
          installation: state.installation ?? installation,
        };
        if (chosen.uid === state.uid && chosen.installation === state.installation)
          return reply(chosen);
        return persist({ type: 'cluster-chosen', ...chosen }).thenReply(chosen);
      },
    },
  },
});
