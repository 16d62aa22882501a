import type { Scope } from '@coinrack/contract/operation.ts'
import { scopes } from '@coinrack/contract/tokens.ts'
import { parseUsd } from '@coinrack/contract/wire.ts'
import { type ConsentView, consentIntro, consentPage } from '@coinrack/web/consent/page.ts'
import { leadOnPage } from '@coinrack/web/proving/page.ts'
import type Provider from 'oidc-provider'
import type { Services } from '../../platform/services.ts'
import { accountById } from '../account-store.ts'
import { PageProblem, type PageRequest, type ProvenPage } from '../proving/proven-page.ts'
import type { BudgetRow } from '../token-store.ts'
import { placeOf } from './application-metadata.ts'
import { CONSENT_PATH } from './authorization-server.ts'
import { makeGrant } from './make-grant.ts'
import { errors } from './oidc-provider.ts'
import { connectUrl } from './resource.ts'
import { gatherWrites, writeLater } from './unit-of-work.ts'

/** What is proposed to the person, in USD. */
const PROPOSED = { per_day: '5.00', total: '50.00' }

/** The page on which a person lets an application in, with the rights and the budget that the person chooses. */
export function consentPageOf(services: Services, provider: Provider): ProvenPage {
  const demo = services.demo !== undefined

  /** The request of the application that this browser came with. */
  async function detailsOf({ raw, params }: PageRequest, { raw: response }: { raw: PageReply }) {
    const details = await provider.interactionDetails(raw, response).catch((error) => {
      if (error instanceof errors.SessionNotFound) return undefined
      throw error
    })
    const client =
      details?.uid === params.id && (await provider.Client.find(String(details.params.client_id)))
    if (!client) throw gone()
    return { details, client }
  }

  return {
    url: `${CONSENT_PATH}/:id`,
    async intro(request, reply) {
      return consentIntro(viewOf(await detailsOf(request, reply)))
    },
    async show(request, reply, person) {
      const view = viewOf(await detailsOf(request, reply))
      const account = await accountById(services.db, person.accountId)
      return consentPage(view, {
        demo,
        path: `${CONSENT_PATH}/${encodeURIComponent(request.params.id)}`,
        who: account.email ?? 'the account of your wallet',
        proposed: PROPOSED,
      })
    },
    async act(request, reply, { accountId }, form) {
      const { details, client } = await detailsOf(request, reply)
      const view = viewOf({ details, client })
      const isAllowed = form.get('decision') === 'allow'
      const returnTo = await gatherWrites(services.db, async () => {
        const result = isAllowed
          ? await grantedTo(client.clientId, view, accountId, form)
          : { error: 'access_denied', error_description: 'the person said no' }
        return provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false })
      })
      return leadOnPage(
        demo,
        isAllowed ? `${view.name} is let in` : `${view.name} is not let in`,
        'You are led back to the application. You can close this page when it has your answer.',
        returnTo,
      )
    },
  }

  async function grantedTo(clientId: string, view: ConsentView, accountId: string, form: URLSearchParams) {
    const chosen = view.scopes.filter((scope) => form.getAll('scope').includes(scope))
    if (chosen.length === 0)
      throw new PageProblem(422, 'No right was chosen', 'Please go back and choose at least one, or refuse.')
    const rest = view.scopes.filter((scope) => !chosen.includes(scope))
    const id = services.newId('token')
    const budget = budgetOf(form)
    const name = `${view.name} (${view.place})`.slice(0, 100)
    writeLater((tx) => makeGrant(tx, services, { id, accountId, name, scopes: chosen, budget }))

    const grant = new provider.Grant({ accountId, clientId })
    grant.jti = id
    const resource = connectUrl(services.config)
    grant.addOIDCScope(['offline_access', ...chosen].join(' '))
    grant.addResourceScope(resource, chosen.join(' '))
    if (rest.length > 0) {
      grant.rejectOIDCScope(rest.join(' '))
      grant.rejectResourceScope(resource, rest.join(' '))
    }
    await grant.save()
    return { login: { accountId, remember: false }, consent: { grantId: id } }
  }
}

type PageReply = Parameters<Provider['interactionDetails']>[1]
type Details = Awaited<ReturnType<Provider['interactionDetails']>>
type Client = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>

const gone = () =>
  new PageProblem(
    400,
    'This request is over',
    'It was answered, is older than half an hour, or was begun in another browser. Please start again in the application.',
  )

/** What the page says of who asks. What a registered application says of itself nobody has checked. */
function viewOf({ details, client }: { details: Details; client: Client }): ConsentView {
  const isKnownByAddress = client.clientId.startsWith('https://')
  const place = placeOf(String(details.params.redirect_uri))
  const asked = String(details.params.scope ?? '').split(' ')
  return {
    name: (client.clientName ?? '').trim().slice(0, 60) || place,
    host: isKnownByAddress ? new URL(client.clientId).host : undefined,
    place,
    scopes: scopes.filter((scope): scope is Scope => asked.includes(scope)),
  }
}

/** @throws PageProblem */
const budgetOf = (form: URLSearchParams): BudgetRow => ({
  max_per_charge: null,
  per_day: amountIn(form, 'per_day'),
  total: amountIn(form, 'total'),
  max_live_vps: null,
  max_live_sandboxes: null,
  allow_auto_renew: form.has('auto_renew'),
  approve_per_call: form.get('ask_above')?.trim() ? amountIn(form, 'ask_above') : null,
  approve_per_day: null,
})

/** micro-USD. @throws PageProblem */
function amountIn(form: URLSearchParams, name: string): bigint {
  const text = (form.get(name) ?? '').trim()
  const amount = parseUsd(text)
  if (amount !== undefined) return amount
  throw new PageProblem(
    422,
    'An amount cannot be read',
    `Please go back and write amounts in US dollars such as 12.50; "${text.slice(0, 20)}" is none.`,
  )
}
