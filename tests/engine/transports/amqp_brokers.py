"""Real AMQP brokers for tests: RabbitMQ from Debian's package, and ActiveMQ Artemis from Maven."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.installed import installed

RABBIT = Path("/usr/lib/rabbitmq/bin")
ARTEMIS = "2.31.2"
STARTING = 90.0  # seconds that a broker may take on a busy machine
USER, PASSWORD = "penstock", "flows-only"

ARTEMIS_CONFIGURATION = """\
<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">
  <name>tests</name><persistence-enabled>true</persistence-enabled><journal-type>NIO</journal-type>
  <journal-min-files>2</journal-min-files><journal-file-size>1M</journal-file-size>
  <bindings-directory>data/bindings</bindings-directory><journal-directory>data/journal</journal-directory>
  <large-messages-directory>data/large</large-messages-directory><paging-directory>data/paging</paging-directory>
  <max-disk-usage>-1</max-disk-usage>
  <acceptors><acceptor name="amqp">tcp://127.0.0.1:{port}?protocols=AMQP</acceptor></acceptors>
  <security-settings><security-setting match="#">
    <permission type="createNonDurableQueue" roles="flows"/><permission type="deleteNonDurableQueue" roles="flows"/>
    <permission type="createDurableQueue" roles="flows"/><permission type="createAddress" roles="flows"/>
    <permission type="consume" roles="flows"/><permission type="browse" roles="flows"/>
    <permission type="send" roles="flows"/>
  </security-setting></security-settings>
  <address-settings><address-setting match="#">
    <default-address-routing-type>ANYCAST</default-address-routing-type><max-delivery-attempts>-1</max-delivery-attempts>
    <default-queue-routing-type>ANYCAST</default-queue-routing-type><redelivery-delay>0</redelivery-delay>
    <auto-delete-queues>false</auto-delete-queues><auto-delete-addresses>false</auto-delete-addresses>
  </address-setting></address-settings>
</core></configuration>
"""
ARTEMIS_BOOTSTRAP = """\
<broker xmlns="http://activemq.apache.org/schema">
  <jaas-security domain="activemq"/><server configuration="file:{home}/etc/broker.xml"/>
</broker>
"""
ARTEMIS_LOGIN = """\
activemq {{ org.apache.activemq.artemis.spi.core.security.jaas.PropertiesLoginModule required
  org.apache.activemq.jaas.properties.user="users" org.apache.activemq.jaas.properties.role="roles"; }};
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass
class Broker:
    """A broker that can be stopped and started again with what it holds."""

    port: int
    command: list[str]
    environment: dict[str, str]
    folder: Path
    after: Callable[[Broker], None] = lambda _: None
    secure_port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"amqp://{USER}:{PASSWORD}@127.0.0.1:{self.port}"

    @property
    def secure_url(self) -> str:
        return f"amqps://{USER}:{PASSWORD}@localhost:{self.secure_port}"

    def start(self) -> None:
        with (self.folder / "broker.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        until = time.monotonic() + STARTING
        while not answers(self.port):
            assert self.process.poll() is None, (self.folder / "broker.log").read_text(errors="replace")[-2000:]
            assert time.monotonic() < until, "the broker does not answer"
            time.sleep(0.1)

    def stop(self) -> None:
        """Ends the broker as a power cut would."""
        if self.process is not None:
            os.killpg(self.process.pid, 9)
            self.process.wait(60)
            self.process = None
        until = time.monotonic() + STARTING
        while answers(self.port):  # the last of its processes takes a moment
            assert time.monotonic() < until, f"somebody answers on port {self.port} of a broker that was ended"
            time.sleep(0.05)

    def restart(self) -> None:
        self.stop()
        self.start()

    def end(self) -> None:
        self.stop()
        self.after(self)


def rabbitmq(folder: Path, *queues: str) -> Broker:
    """A RabbitMQ with its plugin for AMQP 1.0 and durable queues of these names, also by TLS as localhost."""
    installed("rabbitmq-server", "rabbitmq-server")
    port, distribution, mapper, secure_port = (free_port() for _ in range(4))
    certify(folder, "localhost")
    (folder / "plugins").write_text("[rabbitmq_amqp1_0].\n")
    (folder / "rabbitmq.conf").write_text(
        "log.console = true\nlog.console.level = warning\nload_definitions = definitions.json\n"
        f"listeners.ssl.default = 127.0.0.1:{secure_port}\nssl_options.certfile = {folder}/localhost.crt\n"
        f"ssl_options.keyfile = {folder}/localhost.key\nssl_options.verify = verify_none\n"
    )
    made = [{"name": name, "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}} for name in queues]
    (folder / "definitions.json").write_text(
        json.dumps(
            {
                "vhosts": [{"name": "/"}],
                "users": [{"name": USER, "password": PASSWORD, "tags": ""}],
                "permissions": [{"user": USER, "vhost": "/", "configure": "", "write": ".*", "read": ".*"}],
                "queues": made,
            }
        )
    )
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"penstock{port}@localhost",
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(mapper),
    }
    return Broker(port, [str(RABBIT / "rabbitmq-server")], environment, folder, _without_mapper, secure_port)


def certify(folder: Path, host: str) -> None:
    """Write a certificate of a host that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name.from_rfc4514_string(f"CN={host}"), datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    (folder / f"{host}.crt").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / f"{host}.key").touch(0o600)
    (folder / f"{host}.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _without_mapper(broker: Broker) -> None:
    """RabbitMQ leaves the process that knows the ports of nodes behind."""
    subprocess.run(
        ["epmd", "-port", broker.environment["ERL_EPMD_PORT"], "-kill"],  # noqa: S607 - where Erlang's package puts it
        env=broker.environment,
        capture_output=True,
        timeout=120,
        check=False,
    )


def artemis(folder: Path) -> Broker:
    """An ActiveMQ Artemis, fetched by Maven once, which makes queues when they are first used."""
    installed("java", "openjdk-17-jre-headless")
    home, port = _artemis_home(), free_port()
    etc = folder / "etc"
    etc.mkdir()
    (etc / "broker.xml").write_text(ARTEMIS_CONFIGURATION.format(port=port))
    (etc / "bootstrap.xml").write_text(ARTEMIS_BOOTSTRAP.format(home=folder))
    (etc / "login.config").write_text(ARTEMIS_LOGIN.format())
    (etc / "management.xml").write_text('<management-context xmlns="http://activemq.apache.org/schema"/>')
    (etc / "users").write_text(f"{USER}={PASSWORD}\n")
    (etc / "roles").write_text(f"flows={USER}\n")
    command = [
        *("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-cp", f"{home}/lib/*", f"-Dartemis.home={home}", f"-Dartemis.instance={folder}"),
        *(
            f"-Ddata.dir={folder}/data",
            f"-Dartemis.instance.etc={etc}",
            f"-Djava.security.auth.login.config={etc}/login.config",
        ),
        *("org.apache.activemq.artemis.boot.Artemis", "run", f"xml:{etc}/bootstrap.xml"),
    ]
    return Broker(port, command, {"PATH": os.environ["PATH"], "HOME": str(folder)}, folder)


def _artemis_home() -> Path:
    """The folder of Artemis in the user's cache, unpacked from what Maven keeps in its own."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock-tests"
    home = cache / f"apache-artemis-{ARTEMIS}"
    if not home.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        fetched = cache / f"fetching-{os.getpid()}"
        subprocess.run(
            [
                *(installed("mvn", "maven"), "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"),
                f"-Dartifact=org.apache.activemq:apache-artemis:{ARTEMIS}:tar.gz:bin",
                f"-DoutputDirectory={fetched}",
            ],
            timeout=600,
            check=True,
        )
        (archive,) = fetched.glob("*.tar.gz")
        shutil.unpack_archive(archive, fetched, filter="data")
        shutil.move(fetched / home.name, home)
        shutil.rmtree(fetched)
    return home
