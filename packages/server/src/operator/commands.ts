import { accountList } from './account-list.ts'
import { accountShow } from './account-show.ts'
import { accountSuspend, accountUnsuspend } from './account-suspend.ts'
import { background } from './background.ts'
import { backup, backupProve } from './backup.ts'
import { chainRescan } from './chain-rescan.ts'
import type { Command } from './command.ts'
import { credit } from './credit.ts'
import { hostDeclareDead } from './host-declare-dead.ts'
import { hostDrain, hostOpen } from './host-drain.ts'
import { hostEvacuate } from './host-evacuate.ts'
import { hostForget } from './host-forget.ts'
import { hostInvite } from './host-invite.ts'
import { hostList } from './host-list.ts'
import { hostMove } from './host-move.ts'
import { hostShow } from './host-show.ts'
import { imageAdd } from './image-add.ts'
import { imageList } from './image-list.ts'
import { imageRemove } from './image-remove.ts'
import { planCheck } from './plan-check.ts'
import { planList } from './plan-list.ts'
import { previewBlock, previewUnblock } from './preview-block.ts'
import { refundApprove, refundReject } from './refund-decide.ts'
import { refundList } from './refund-list.ts'
import { refundSent } from './refund-sent.ts'
import { replicaBundle, replicaJoin } from './replica-bundle.ts'
import { restore } from './restore.ts'
import { reviewApprove, reviewReject } from './review-decide.ts'
import { reviewList } from './review-list.ts'
import { ticketClose, ticketReply } from './ticket-answer.ts'
import { ticketList } from './ticket-list.ts'
import { treasuryDeploy } from './treasury-deploy.ts'
import { treasuryFlush } from './treasury-flush.ts'
import { treasuryReconcile } from './treasury-reconcile.ts'

/** All that an operator can ask for, in the order of the usage text. */
export const commands: Command[] = [
  accountList,
  accountShow,
  accountSuspend,
  accountUnsuspend,
  background,
  backup,
  backupProve,
  restore,
  replicaBundle,
  replicaJoin,
  chainRescan,
  treasuryDeploy,
  treasuryFlush,
  treasuryReconcile,
  credit,
  hostList,
  hostShow,
  hostInvite,
  hostDrain,
  hostEvacuate,
  hostOpen,
  hostMove,
  hostDeclareDead,
  hostForget,
  imageList,
  imageAdd,
  imageRemove,
  planList,
  planCheck,
  previewBlock,
  previewUnblock,
  refundList,
  refundApprove,
  refundReject,
  refundSent,
  reviewList,
  reviewApprove,
  reviewReject,
  ticketList,
  ticketReply,
  ticketClose,
]
