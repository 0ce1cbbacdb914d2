# The proxy as a service over HTTP, in front of a server at a URL:
#   docker build -t mcp-lenient .
#   docker run --rm -p 127.0.0.1:8000:8000 mcp-lenient https://example.com/mcp
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY examples/chat.py examples/context_store.py examples/demo.py ./examples/
COPY mcp_lenient ./mcp_lenient
RUN python -m venv /opt/mcp-lenient && /opt/mcp-lenient/bin/pip install --no-cache-dir ".[metrics]" "fastmcp>=4,<5"

FROM python:3.13-slim
COPY --from=build /opt/mcp-lenient /opt/mcp-lenient
ENV PATH=/opt/mcp-lenient/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 10001 proxy
USER 10001
WORKDIR /home/proxy
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=15s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=12)"]
ENTRYPOINT ["mcp-lenient", "proxy", "--http", "0.0.0.0:8000", "--stateless"]
