# The server with its default model; no torch and no compiler in what runs.
#   docker build -t dragoman .
#   docker run --read-only --cap-drop all -p 50051:50051 -p 9090:9090 dragoman
# Both stages need nothing of the base but `python3` with its venv module.
ARG BASE=docker.io/library/python:3.11.14-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python3 -m venv /opt/dragoman
ENV PATH=/opt/dragoman/bin:${PATH}
# Third-party packages first, from the versions alone: a change of source code leaves this layer as it is.
COPY pyproject.toml constraints.txt ./
RUN python3 -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; print(*p['dependencies'], *p['optional-dependencies']['server'], sep='\n')" > requirements.txt \
    && python3 -m pip install --constraint constraints.txt --requirement requirements.txt
COPY . .
RUN python3 -m pip install --no-deps . \
    && python3 -m pip check \
    && python3 -m pip uninstall --yes setuptools pip

FROM ${BASE}
LABEL org.opencontainers.image.title="Dragoman" \
      org.opencontainers.image.description="A trained encoder-decoder Transformer behind gRPC" \
      org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later"
RUN groupadd --gid 10001 dragoman \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin dragoman
COPY --from=build /opt/dragoman /opt/dragoman
ENV PATH=/opt/dragoman/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ORT_DISABLE_TELEMETRY=1 \
    DRAGOMAN_HOST=0.0.0.0
WORKDIR /
USER 10001:10001
EXPOSE 50051 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=15s --retries=3 \
    CMD dragoman health --address "127.0.0.1:${DRAGOMAN_PORT:-50051}"
ENTRYPOINT ["dragoman"]
CMD ["serve"]
