import type { CallOptions, Client } from './client.ts'

type ContextOptions = Omit<NonNullable<Parameters<Client['createContext']>[0]>, 'sandbox_id' | 'context'>
type Contexts = Awaited<ReturnType<Client['listContexts']>>['items']

/** Interpreters that keep what code defines, for `runCode` by their id. There is one for each language from the beginning. */
export interface SandboxContexts {
  /** Makes one, in a folder of your choice. One that is there already is left as it is. */
  create(context: string, options?: ContextOptions, call?: CallOptions): Promise<Contexts[number]>
  list(call?: CallOptions): Promise<Contexts>
  /** Ends the code that runs in it, and forgets all that was defined. */
  restart(context: string, call?: CallOptions): Promise<void>
  /** Deletes it, with all that was defined in it. One that is not there is fine. */
  remove(context: string, call?: CallOptions): Promise<void>
}

/** @returns the contexts of one sandbox */
export function createContexts(client: Client, sandbox_id: string): SandboxContexts {
  return {
    async create(context, options = {}, call) {
      const { language, cwd } = await client.createContext({ ...options, sandbox_id, context }, call)
      return { id: context, language, cwd }
    },
    async list(call) {
      const contexts = []
      for await (const context of client.listContexts.all({ sandbox_id }, call)) contexts.push(context)
      return contexts
    },
    restart: async (context, call) => void (await client.restartContext({ sandbox_id, context }, call)),
    remove: async (context, call) => void (await client.deleteContext({ sandbox_id, context }, call)),
  }
}
