// What our scripts find in a browser, and TypeScript's libraries do not declare.

/** Where the pictures' script and plotly.js are; the page's first script says so. */
declare var ffnvizPictures: string | undefined;
declare var ffnvizPlotly: string | undefined;

interface Window {
  /** Set by plotly.js, which comes without types. */
  Plotly: any;
  /** Read by Streamlit's own code. */
  __streamlit?: { BACKEND_BASE_URL?: string };
}

/** What Plotly.react makes of an element. */
type PlotlyElement = HTMLElement & { on?: (event: string, act: (event: any) => void) => void; _fullLayout?: any; data?: any };

interface WindowEventMap {
  /** The pictures in `detail`, or all, are given another height; see filling.js. */
  room: CustomEvent<Set<Element>>;
}

/** What service_worker.js uses of the library for workers, which excludes the one for pages. */
interface ServiceWorkerScope {
  registration: ServiceWorkerRegistration;
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", act: (event: LastingEvent) => void): void;
  addEventListener(type: "fetch", act: (event: FetchedEvent) => void): void;
}
interface LastingEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}
interface FetchedEvent extends LastingEvent {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** The same for worker.js. */
interface WorkerScope {
  onmessage: (event: MessageEvent) => void;
  postMessage(message: unknown, moved?: Transferable[]): void;
}
