import { deleteOrphanedPersons, type OrphanedPersonTools } from '../reactions/accounts/orphaned-persons.ts'
import { webhookProgress, webhooks } from '../projections/webhooks/webhooks.ts'
import { certifications } from '../projections/certifications/certifications.ts'
import { diamonds } from '../projections/diamonds/diamonds.ts'
import { stoneModels } from '../projections/diamonds/stone-models.ts'
import {
  openReadModelService,
  openBackgroundServices,
  type OpenReadModel,
  type JobWaker,
  type BackgroundService,
} from '../projections/engine/background-services.ts'
import { checkpointModelOf, type Reaction } from '../projections/engine/reaction.ts'
import type { AnyProjection } from '../projections/engine/read-model.ts'
import type { ScheduledJob } from '../projections/engine/loop.ts'
import { imports } from '../projections/imports/imports.ts'
import { secrets } from '../projections/secrets/secrets.ts'
import { merkleTree } from '../projections/tree/merkle-tree.ts'
import { bulkRequestRecovery, type BulkRequestRecoveryOptions } from '../reactions/bulk/bulk-request-recovery.ts'
import {
  FILE_GARBAGE_COLLECTION_JOBS,
  fileRemovals,
  type FileRemovalTools,
} from '../reactions/files/file-garbage-collector.ts'
import { importRuns, type ImportTools } from '../reactions/imports/import-runner.ts'
import { mailDelivery, type Mailer } from '../reactions/mail/mailer.ts'
import { reportReading, type ReportReadingOptions } from '../reactions/reports/report-reading.ts'
import { checkpointSigning, type CheckpointSigningTools } from '../reactions/evidence/checkpoint-signing.ts'
import { scoring, type ScoringReactionOptions } from '../reactions/scoring/scoring.ts'
import {
  vaultResealing,
  secretEndings,
  SECRET_SWEEPER_JOBS,
  type SecretEndingTools,
  type VaultResealingTools,
  type SecretSweeperTools,
} from '../reactions/secrets/secret-sweeper.ts'
import { webhookDeliveries, type WebhookDeliveryTools } from '../reactions/webhooks/webhook-deliverer.ts'
import type { PositionOrStart } from '../stores/ports/event-store.ts'
import type { ModelDeclaration } from '../stores/ports/read-store.ts'
import type { Installation } from './installation.ts'
import type { CheckpointedConsumer } from './metrics.ts'
import type { ServiceParts } from './service-parts.ts'

export type ConsumerTools = BulkRequestRecoveryOptions &
  FileRemovalTools &
  SecretEndingTools &
  VaultResealingTools &
  SecretSweeperTools &
  OrphanedPersonTools &
  WebhookDeliveryTools &
  ImportTools &
  CheckpointSigningTools & {
    readonly scoring: ScoringReactionOptions
    readonly reports: ReportReadingOptions
    readonly mailer: Mailer
  }

export const READ_MODELS: readonly AnyProjection[] = [
  diamonds,
  certifications,
  stoneModels,
  secrets,
  webhooks,
  imports,
  merkleTree,
]

const REACTIONS: readonly Reaction<ConsumerTools>[] = [
  scoring,
  reportReading,
  bulkRequestRecovery,
  secretEndings,
  fileRemovals,
  webhookDeliveries,
  importRuns,
]

const ROUTINES: readonly ScheduledJob<ConsumerTools>[] = [
  ...FILE_GARBAGE_COLLECTION_JOBS,
  ...SECRET_SWEEPER_JOBS,
  deleteOrphanedPersons,
  mailDelivery,
  vaultResealing,
  checkpointSigning,
]

/** Declarations of the reactions whose checkpoints are stored with the read models. */
export const REACTION_CHECKPOINTS: readonly ModelDeclaration[] = REACTIONS.flatMap((reaction) =>
  'createHandler' in reaction ? [checkpointModelOf(reaction.name)] : [],
)

/** Everything that stores a checkpoint and dead letters with the read models. */
export const CHECKPOINTED_MODELS: readonly ModelDeclaration[] = [
  ...READ_MODELS.map(({ declaration }) => declaration),
  ...REACTION_CHECKPOINTS,
]

/** Everything that is stored with the read models. */
export const STORED_MODELS: readonly ModelDeclaration[] = [...CHECKPOINTED_MODELS, webhookProgress]

/** The consumers and jobs of this process. Without the role projections, it only polls the read models' progress. */
export class Consumers {
  #backgroundServices: readonly BackgroundService[] = []

  private constructor(
    private readonly installation: Installation,
    private readonly parts: ServiceParts,
    private readonly models: readonly OpenReadModel[],
  ) {}

  /** Opens the read models; nothing runs yet. */
  static async open(installation: Installation, parts: ServiceParts): Promise<Consumers> {
    const models = await Promise.all(READ_MODELS.map((projection) => openReadModelService(projection, installation)))
    for (const model of models)
      parts.add({ stage: 'dependencies', name: model.name, stop: () => model.stop(), counters: () => model.counters() })
    return new Consumers(installation, parts, models)
  }

  /** @throws Error for a read model that is not in READ_MODELS */
  readModel({ declaration: { name } }: Pick<AnyProjection, 'declaration'>): OpenReadModel {
    const found = this.models.find((model) => model.name === name)
    if (found === undefined) throw new Error(`there is no read model ${name}`)
    return found
  }

  /** Starts all together, so that those that catch up share one read of the log. */
  async startReadModels(): Promise<void> {
    if (this.#runsProjections) await Promise.all(this.models.map((model) => model.start()))
  }

  async startWork(tools: Omit<ConsumerTools, keyof JobWaker>): Promise<void> {
    if (!this.#runsProjections) return
    const declared = { reactions: REACTIONS, scheduledJobs: ROUTINES }
    this.#backgroundServices = await openBackgroundServices<ConsumerTools>(
      declared,
      (waker) => ({ ...tools, ...waker }),
      this.installation,
    )
    for (const service of this.#backgroundServices) this.#addPart(service)
    await Promise.all(this.#backgroundServices.map((service) => service.start()))
  }

  /** All consumers with a checkpoint, wherever they run. */
  checkpointed(): readonly CheckpointedConsumer[] {
    return CHECKPOINTED_MODELS.map((declaration) => {
      const { name } = declaration
      const opened = this.models.find((model) => model.name === name)?.model
      const service = () => [...this.models, ...this.#backgroundServices].find((one) => one.name === name)
      return {
        name,
        openModel: async () => opened ?? this.installation.reads.model(declaration),
        isActive: () => service()?.isActive() === true,
        isNotNeeded: () => service()?.isNotNeeded?.() === true,
      }
    })
  }

  /** Which read models have not reached a position of the log. */
  async notReadyReasons(head: PositionOrStart): Promise<string[]> {
    const reasons: string[] = []
    for (const { name, progress } of this.models) {
      if (!(await progress.waitForPosition(head, 0))) reasons.push(`the ${name} read model is behind the log`)
    }
    return reasons
  }

  get #runsProjections(): boolean {
    return this.installation.settings.ROLES.includes('projections')
  }

  /** Reactions and scheduled jobs stop before the components that they use. */
  #addPart(service: BackgroundService): void {
    this.parts.add({
      stage: 'requests',
      name: service.name,
      stop: () => service.stop(),
      counters: () => service.counters(),
    })
  }
}
