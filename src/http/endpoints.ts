import {
  attachCertificationEndpoint,
  readCertificationFile,
  removeCertificationEndpoint,
} from './certifications/certifications.ts'
import type { CertificationServices } from './certifications/resource.ts'
import { listCutShapes, readConstants, readCutShape } from './constants/constants.ts'
import { createDiamond, createDiamonds } from './diamonds/create.ts'
import { readHistory } from './diamonds/history.ts'
import {
  attachStoneModel,
  readModelFile,
  readStoneModel,
  removeStoneModel,
  type ModelServices,
} from './diamonds/stone-model.ts'
import { modifyDiamond, modifyDiamonds, removeDiamond, removeDiamonds } from './diamonds/modify.ts'
import { listChanges, type ChangeServices } from './changes/changes.ts'
import { listDiamonds, readDiamond } from './diamonds/read.ts'
import { exportDiamonds, summarizeExport, type ExportServices } from './exports/exports.ts'
import { readFeed } from './feeds/feed-file.ts'
import { createFeedEndpoint, listFeeds, removeFeed } from './feeds/feeds.ts'
import type { FeedServices } from './feeds/resource.ts'
import { readProof } from './evidence/proof.ts'
import {
  readLogCheckpoint,
  readLogConsistency,
  readLogKey,
  type EvidenceServices,
} from './evidence/transparency-log.ts'
import { shareSecretByPage, showFrontPage } from './front/front-page.ts'
import {
  describeAuthorizationServer,
  readIcon,
  readRobots,
  readSecurityContact,
  type WellKnownServices,
} from './front/well-known.ts'
import { livenessCheck, readinessCheck, type HealthServices } from './health/health.ts'
import { readMetrics, type MetricsServices } from './health/metrics.ts'
import {
  applyImport,
  createImport,
  listImports,
  modifyImport,
  readOneImport,
  removeImport,
  undoImport,
} from './imports/imports.ts'
import type { ImportServices } from './imports/resource.ts'
import { downloadExport, showExports } from './inventory/exports.ts'
import { changeFeedsByPage, showFeeds } from './inventory/feeds.ts'
import { showInventory } from './inventory/inventory-page.ts'
import { changeImportByPage, showImport, showImports, uploadByPage } from './inventory/imports/pages.ts'
import { logInByPage, logOutByPage } from './inventory/log-in.ts'
import type { BrowserServices } from './inventory/session.ts'
import { changeStoneByPage, showOwnStone } from './inventory/stone.ts'
import type { BearerServices } from './kit/authenticate.ts'
import type { Endpoint } from './kit/endpoint.ts'
import type { UrlServices } from './kit/public-urls.ts'
import type { TokenServices } from './oauth/client-authentication.ts'
import { introspectToken, revokeToken } from './oauth/revocation-introspection.ts'
import type { ReadModelRegistry } from '../projections/engine/background-services.ts'
import { describeApi, readReferenceFile, showReference, type OpenApiServices } from './openapi/docs.ts'
import { issueToken } from './oauth/token.ts'
import { readOwnersPage } from './report/owners-page.ts'
import { readPicture, readReportPage, readWidget, type ReportServices } from './report/report.ts'
import { askSecretReader, showSecretToReader } from './secret-pages/reader-page.ts'
import { burnSecretByPage, showSecretReceipt } from './secret-pages/sender-page.ts'
import { burnSecret, listRecentSecrets, readSecretRecord } from './secrets/records.ts'
import { checkApiToken, generateSecret, revealSecret, secretsStatus, shareSecret } from './secrets/secrets.ts'
import type { SecretServices } from './secrets/authentication.ts'
import { listWebhookDeliveries, rotateWebhookSecretEndpoint, testWebhook } from './webhooks/deliveries.ts'
import {
  createWebhookEndpoint,
  listWebhooks,
  modifyWebhook,
  readOneWebhook,
  removeWebhook,
} from './webhooks/webhooks.ts'
import type { WebhookServices } from './webhooks/resource.ts'

/** Every HTTP endpoint of the service. */
export const ENDPOINTS: readonly Endpoint<EndpointServices>[] = [
  listDiamonds,
  listChanges,
  exportDiamonds,
  summarizeExport,
  readDiamond,
  createDiamond,
  modifyDiamond,
  removeDiamond,
  createDiamonds,
  modifyDiamonds,
  removeDiamonds,
  readHistory,
  readProof,
  attachStoneModel,
  readStoneModel,
  removeStoneModel,
  readModelFile,
  attachCertificationEndpoint,
  removeCertificationEndpoint,
  readCertificationFile,
  createImport,
  listImports,
  readOneImport,
  modifyImport,
  applyImport,
  undoImport,
  removeImport,
  createFeedEndpoint,
  listFeeds,
  removeFeed,
  readFeed,
  listWebhooks,
  createWebhookEndpoint,
  readOneWebhook,
  modifyWebhook,
  removeWebhook,
  testWebhook,
  rotateWebhookSecretEndpoint,
  listWebhookDeliveries,
  askSecretReader,
  showSecretToReader,
  showSecretReceipt,
  burnSecretByPage,
  readReportPage,
  readWidget,
  readPicture,
  readOwnersPage,
  showInventory,
  logInByPage,
  logOutByPage,
  showImports,
  uploadByPage,
  showImport,
  changeImportByPage,
  showExports,
  downloadExport,
  showFeeds,
  changeFeedsByPage,
  showOwnStone,
  changeStoneByPage,
  readLogCheckpoint,
  readLogKey,
  readLogConsistency,
  readConstants,
  listCutShapes,
  readCutShape,
  livenessCheck,
  readinessCheck,
  readMetrics,
  showFrontPage,
  shareSecretByPage,
  readRobots,
  readIcon,
  readSecurityContact,
  describeApi,
  showReference,
  readReferenceFile,
  issueToken,
  revokeToken,
  introspectToken,
  describeAuthorizationServer,
  secretsStatus,
  checkApiToken,
  shareSecret,
  generateSecret,
  revealSecret,
  readSecretRecord,
  burnSecret,
  listRecentSecrets,
]

export type EndpointServices = BearerServices &
  CertificationServices &
  ModelServices &
  ChangeServices &
  ReportServices &
  HealthServices &
  UrlServices &
  WellKnownServices &
  OpenApiServices &
  MetricsServices &
  TokenServices &
  SecretServices &
  WebhookServices &
  ImportServices &
  ExportServices &
  FeedServices &
  EvidenceServices &
  BrowserServices & { readonly readModels: ReadModelRegistry }
